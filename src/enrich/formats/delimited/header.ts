import { quoted } from '../../../errors.ts'
import { eventTimeOf } from '../../locating/event-time.ts'
import { kindOfValue } from '../../reading/field-guess.ts'
import { isAddressName } from '../../reading/known-names.ts'

const NUMBER = /^[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?$/
/** How programs write an unknown value, a boolean, a date, a UUID, a URL and a mail address. */
const DATA =
  /^(?:-|\\N|null|none|nan|n\/a|true|false|\d{4}-\d\d-\d\d.*|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}.*|[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}|[a-z]+:\/\/.*|[^\s@]+@[^\s@]+\.[^\s@]+)$/i

/**
 * Finds out whether the first row of a table is data, so that its first record would be lost as a header.
 *
 * @param titles the values of the first row
 * @param rows the other rows of the sample
 * @returns what is in the first row that a header has not, for a message; `null` if it looks like a header
 */
export function dataInHeader(titles: readonly string[], rows: readonly (readonly string[])[]): string | null {
  if (hasUsualName(titles, rows) || isNumbered(titles)) return null
  const shown = (column: number, what: string): string =>
    `${quoted(titles[column] ?? '')} in column ${column + 1} ${what}`
  const address = titles.findIndex(isAddress)
  const data = address >= 0 ? address : titles.findIndex(looksLikeData)
  if (data >= 0) return shown(data, 'is not a name')
  // A header can come again where two tables were joined.
  const others = rows.filter((row) => row.some((value, column) => value !== titles[column]))
  const repeated = titles.findIndex(
    (title, column) => title !== '' && others.some((row) => row[column] === title),
  )
  return repeated < 0 ? null : shown(repeated, 'is a value of other rows too')
}

/** Whether a column with addresses, or without values, has a usual name: then the first row is a header. */
function hasUsualName(titles: readonly string[], rows: readonly (readonly string[])[]): boolean {
  return titles.some((title, column) => {
    if (!isAddressName(title)) return false
    const values = rows.map((row) => kindOfValue(row[column] ?? '')).filter((kind) => kind !== 'missing')
    return values.length === 0 || values.some((kind) => kind !== 'other')
  })
}

/** Whether columns are numbered from 0 or 1, as some programs name them; the first one can have no name. */
function isNumbered(titles: readonly string[]): boolean {
  const numbers = titles[0] === '' ? titles.slice(1) : titles
  const first = Number(numbers[0])
  return (
    numbers.length > 0 &&
    (first === 0 || first === 1) &&
    numbers.every((title, index) => title === String(first + index))
  )
}

function isAddress(title: string): boolean {
  const kind = kindOfValue(title)
  return kind === 'address' || kind === 'list'
}

function looksLikeData(title: string): boolean {
  return NUMBER.test(title) || DATA.test(title) || !Number.isNaN(eventTimeOf(title))
}
