// Values of tables as text: RFC 4180, with commas or tabs.

/** The form of a table. */
export type TableForm = 'csv' | 'tsv'

const SEPARATORS = { csv: ',', tsv: '\t' } as const

/** A record with its line end. Readers skip an empty line: quotes make it a record with one empty value. */
export function recordText(values: readonly string[], form: TableForm): string {
  const line = values.map((value) => valueText(value, form)).join(SEPARATORS[form])
  return line === '' ? '""\n' : `${line}\n`
}

export function valueText(text: string, form: TableForm): string {
  const isQuoted = text.includes(SEPARATORS[form]) || /["\r\n]|^\s|\s$/.test(text)
  return isQuoted ? `"${text.replaceAll('"', '""')}"` : text
}
