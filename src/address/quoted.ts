/** How much of a foreign text a message may quote. Characters. */
export const MAX_QUOTED = 60

/** Printable ASCII that needs no escape in JSON: most texts, and bad input comes in bulk. */
const PLAIN = /^[ !#-[\]-~]*$/

/** A foreign text for a message: in printable ASCII, so that no character can hide or forge lines in a log, and cut. */
export function quoted(text: string): string {
  if (text.length <= MAX_QUOTED && PLAIN.test(text)) return `"${text}"`
  const printable = JSON.stringify(text.slice(0, MAX_QUOTED)).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return text.length > MAX_QUOTED ? `${printable}...` : printable
}
