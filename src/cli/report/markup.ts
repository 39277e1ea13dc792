/** HTML that is safe to insert. {@link html} creates it, and escapes every value that is not `Markup` itself. */
export class Markup {
  private constructor(readonly text: string) {}

  /** Markup of a constant of this program. Never call it with text from a file. */
  static of(constant: string): Markup {
    return new Markup(constant)
  }
}

/** A value in a template; `null` inserts nothing. */
export type Content = Markup | string | number | null | readonly Content[]

/** Makes HTML from a template. Values are escaped for text and for attributes in quotes. */
export function html(constants: TemplateStringsArray, ...values: readonly Content[]): Markup {
  return Markup.of(
    constants.reduce((text, constant, index) => text + textOf(values[index - 1] ?? null) + constant),
  )
}

function textOf(content: Content): string {
  if (content === null) return ''
  if (content instanceof Markup) return content.text
  if (typeof content === 'string') return escaped(content)
  if (typeof content === 'number') return String(content)
  return content.map(textOf).join('')
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/**
 * Characters that HTML forbids, lone surrogates, and bidirectional overrides, which can disguise the name of a file.
 * Line feeds and tabs are allowed.
 */
const FORBIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters
  /[\u0000-\u0008\u000b-\u000d\u000e-\u001f\u007f-\u009f\u202a-\u202e\p{Noncharacter_Code_Point}\p{Surrogate}]/gu

function escaped(text: string): string {
  return text.replace(FORBIDDEN, '\ufffd').replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
}

/**
 * Isolates the writing direction of a name in text that cannot contain elements, such as a title. Elsewhere `<bdi>`
 * does this.
 */
export function isolated(name: string): string {
  return `\u2068${name.replace(/[\u2066-\u2069]/g, '')}\u2069`
}

/** Limit for names of locations, in characters. The longest real ones have about 170. */
export const MAX_NAME_LENGTH = 200

/** Limit in characters. The attribution of the embedded databases has about 800. */
export const MAX_ATTRIBUTION_LENGTH = 4000

/** Cuts text from a file to a number of characters, so that no file determines the size of the page. */
export function clipped(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  // A character has at most two code units. Take one character more than the limit, to detect a longer text.
  const characters = [...text.slice(0, 2 * (maxLength + 1))]
  return characters.length <= maxLength
    ? characters.join('')
    : `${characters.slice(0, maxLength - 1).join('')}…`
}

/** A coordinate or percentage with at most two decimals. */
export function twoDecimals(number: number): number {
  return Math.round(number * 100) / 100
}

/** A card of the page. @param aside beside the heading. @param kind its CSS class besides `card` */
export function card(heading: Markup, aside: Content, body: Content, kind = ''): Markup {
  return html`<section class="card${kind === '' ? '' : ` ${kind}`}"><header class="head">${heading}${
    aside === null ? null : html`<p class="aside">${aside}</p>`
  }</header>${body}</section>`
}

/** A bare URL, or an element `a` with nothing but one. Only https becomes a link. */
const LINK = /<a href=(["'])(https:\/\/[^\s'"<>]+)\1>([^<>]+)<\/a>|https:\/\/[^\s<>"'()]*[^\s<>"'().,;:]/g

interface Link {
  readonly at: number
  readonly whole: string
  readonly address: string
  readonly label: string
}

export function linksIn(text: string): Link[] {
  return Array.from(text.matchAll(LINK), (match) => {
    const [whole, , address = whole, label = whole] = match
    return { at: match.index, whole, address, label }
  })
}

export function linkTo(address: string, label: string): Markup {
  return html`<a href="${address}" rel="noopener noreferrer">${label}</a>`
}

/** Text with its links, which vendors require. Everything else in it is shown as text. */
export function withLinks(text: string): Markup[] {
  const parts: Markup[] = []
  let from = 0
  for (const { at, whole, address, label } of linksIn(text)) {
    parts.push(html`${text.slice(from, at)}`, linkTo(address, label))
    from = at + whole.length
  }
  return [...parts, html`${text.slice(from)}`]
}
