/** One element of a `Forwarded` field (RFC 7239 section 4): what it says about `for`. */
export type ForwardedElement =
  /** The node, unquoted. */
  { readonly node: string } | 'without-for' | 'malformed'

/** `token = value`, the value a token or a quoted string (RFC 9110 sections 5.6.2 and 5.6.4). */
const PAIR =
  /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)|"((?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t \x21-\x7e\x80-\xff])*)")$/

/** Reads an element strictly: every parameter well-formed, none twice, empty pairs allowed. */
export function readElement(text: string): ForwardedElement {
  const names = new Set<string>()
  let node: string | null = null
  for (const part of splitOutsideQuotes(text, ';')) {
    const pair = trim(part)
    if (pair === '') continue
    const [, name, token, quoted = ''] = PAIR.exec(pair) ?? []
    const parameter = name?.toLowerCase()
    if (parameter === undefined || names.has(parameter)) return 'malformed'
    names.add(parameter)
    if (parameter === 'for') node = token ?? quoted.replace(/\\(.)/g, '$1')
  }
  return node === null ? 'without-for' : { node }
}

/**
 * Where the last element before `end` starts: behind the last comma that is not in a quoted string, seen from
 * the right. What lies left of it is not looked at, so that a caller's own unbalanced quote there changes
 * nothing about the elements that proxies have added.
 */
export function startOfLastElement(field: string, end: number): number {
  let quoted = false
  for (let at = end - 1; at >= 0; at--) {
    const character = field[at]
    if (character === '"' && !(quoted && isEscaped(field, at))) quoted = !quoted
    else if (character === ',' && !quoted) return at + 1
  }
  return 0
}

/** Without the white space that RFC 9110 section 5.6.3 allows around: spaces and tabs, no other. */
export function trim(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

/** Whether a character is a space or a tab. */
export function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

/** Whether an odd number of backslashes stands before a character. */
function isEscaped(text: string, at: number): boolean {
  let before = at
  while (before > 0 && text[before - 1] === '\\') before--
  return (at - before) % 2 === 1
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = []
  let start = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (quoted && character === '\\') at++
    else if (character === '"') quoted = !quoted
    else if (character === separator && !quoted) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  parts.push(text.slice(start))
  return parts
}
