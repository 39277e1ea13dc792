/** How much of a foreign text a message may quote. */
const MAX_QUOTED = 60

/** A foreign text for a message: in printable ASCII, so that no character can hide or forge lines in a log, and cut. */
export function quoted(text: string): string {
  const printable = JSON.stringify(text.slice(0, MAX_QUOTED)).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return text.length > MAX_QUOTED ? `${printable}...` : printable
}
