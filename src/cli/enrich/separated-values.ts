// Values of tables as text: RFC 4180, with commas or tabs.

/** The form of a table. */
export type TableForm = 'csv' | 'tsv'

/** A record with its line end. Readers skip an empty line: quotes make it a record with one empty value. */
export function recordText(values: readonly string[], form: TableForm): string {
  const separator = form === 'csv' ? ',' : '\t'
  const line = values.map((value) => valueText(value, separator)).join(separator)
  return line === '' ? '""\n' : `${line}\n`
}

function valueText(text: string, separator: string): string {
  const isQuoted = text.includes(separator) || /["\r\n]|^\s|\s$/.test(text)
  return isQuoted ? `"${text.replaceAll('"', '""')}"` : text
}
