import { separatorLine } from '../separator-line.ts'
import { type Dialect, type SampleTable, sampleTable } from './sample-table.ts'

export const COMMA = 0x2c
export const SEMICOLON = 0x3b
export const TAB = 0x09

/**
 * Reads a sample of CSV with the delimiter that it has: commas, or the semicolons of a spreadsheet in a country
 * with decimal commas. A separator line says which; else it is told by the first record: the one that it has, or, of
 * both, the one that gives more records as many fields as the first, or else more fields.
 */
export function csvTable(sample: Uint8Array, isWhole: boolean, maxBytes: number): SampleTable {
  const read = (delimiter: number): SampleTable =>
    sampleTable(sample, isWhole, { delimiter, quotes: true }, maxBytes)
  const separator = separatorLine(sample)
  if (separator !== null) return read(separator.delimiter)
  const commas = read(COMMA)
  const semicolons = read(SEMICOLON)
  if (semicolons.width < 2) return commas
  if (commas.width < 2) return semicolons
  if (commas.misfits !== semicolons.misfits) return commas.misfits < semicolons.misfits ? commas : semicolons
  return semicolons.width > commas.width ? semicolons : commas
}

/**
 * Reads a sample of TSV. Spreadsheets put fields in quotes as in CSV, other programs write quotes as text: they
 * are text where fewer records misfit then, or as few do and quotes would swallow line ends between records that fit.
 */
export function tsvTable(sample: Uint8Array, isWhole: boolean, maxBytes: number): SampleTable {
  const read = (quotes: boolean): SampleTable => {
    const dialect: Dialect = { delimiter: TAB, quotes }
    return sampleTable(sample, isWhole, dialect, maxBytes)
  }
  const quoted = read(true)
  const plain = read(false)
  const isText =
    plain.misfits === quoted.misfits ? plain.rows.length > quoted.rows.length : plain.misfits < quoted.misfits
  return isText ? plain : quoted
}
