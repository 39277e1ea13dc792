/** A piece of HTML. Only {@link html} makes it, and that escapes whatever is not a piece of HTML itself. */
export class Markup {
  private constructor(readonly text: string) {}

  /** For constants of this program, never for what comes from a file. */
  static of(constant: string): Markup {
    return new Markup(constant)
  }
}

/** What may stand in a template; `null` stands for nothing. */
export type Content = Markup | string | number | null | readonly Content[]

/** Makes HTML of a template: values are escaped for text and for attributes in quotes. */
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
 * Characters that HTML does not allow, halves of characters, and those that turn the text behind them round, by
 * which a file can seem to have another name. Line ends and tabs are allowed.
 */
const NOT_TEXT =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b-\u000d\u000e-\u001f\u007f-\u009f\u202a-\u202e\p{Noncharacter_Code_Point}\p{Surrogate}]/gu

function escaped(text: string): string {
  return text.replace(NOT_TEXT, '\ufffd').replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
}

/**
 * A name inside a text that cannot hold an element, such as a title: its direction of writing ends with it.
 * Elsewhere `<bdi>` does this.
 */
export function isolated(name: string): string {
  return `\u2068${name.replace(/[\u2066-\u2069]/g, '')}\u2069`
}
