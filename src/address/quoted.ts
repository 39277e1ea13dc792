/** How much of a foreign text a message may quote. */
export const MAX_QUOTED_CHARS = 60

/** Printable ASCII that needs no escape in JSON. Most bad input is, and there can be much of it, so skip JSON.stringify. */
const PLAIN = /^[ !#-[\]-~]*$/

/** Quotes a foreign text for a message: truncated, and in printable ASCII so that it cannot hide or forge log lines. */
export function quoted(text: string): string {
  if (text.length <= MAX_QUOTED_CHARS && PLAIN.test(text)) return `"${text}"`
  const printable = JSON.stringify(text.slice(0, MAX_QUOTED_CHARS)).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return text.length > MAX_QUOTED_CHARS ? `${printable}...` : printable
}
