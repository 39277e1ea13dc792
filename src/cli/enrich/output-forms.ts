// The forms of an output, by the ending of its name.
import { basename, extname } from 'node:path'
import { UsageError } from '../terminal.ts'
import { compressionOf } from './compression.ts'

/** The endings of names that ask for a form. */
const ENDINGS: ReadonlyMap<string, string> = new Map([
  ['.csv', 'csv'],
  ['.tsv', 'tsv'],
  ['.json', 'json'],
  ['.ndjson', 'ndjson'],
  ['.jsonl', 'ndjson'],
  ['.parquet', 'parquet'],
  ['.md', 'md'],
  ['.markdown', 'md'],
])

/** Endings that ask for no form: those of text, and the numbers and dates of rotated logs. */
const TEXT = /^(?:\.(?:txt|text|log|out|[\d-]+))?$/

/**
 * The form that the name of an output asks for; `undefined` if it asks for none.
 *
 * @param path `undefined` for standard output
 * @param forms those that the command writes
 * @param own names whose endings ask for no form either
 * @throws UsageError when the ending is another one, which would promise a form that is not written
 */
export function formOfName<Form extends string>(
  path: string | undefined,
  forms: readonly Form[],
  own: readonly string[] = [],
): Form | undefined {
  if (path === undefined) return undefined
  const ending = endingOf(path)
  const found = forms.find((form) => form === ENDINGS.get(ending))
  if (found === 'parquet' && compressionOf(path) !== null)
    throw new UsageError(`-o ${path}: the pages of Parquet are compressed already: leave out .gz or .zst.`)
  if (found !== undefined || TEXT.test(ending) || own.some((name) => endingOf(name) === ending)) return found
  const known = [...ENDINGS].filter(([, form]) => forms.some((each) => each === form)).map(([each]) => each)
  throw new UsageError(
    `-o ${path}: no form has the ending ${ending}. Write ${known.join(', ')}, or .txt for text; or choose the form with --to ${forms.join(', ')}.`,
  )
}

/** The ending of a name without that of its compression, in lower case; `''` if it has none. */
function endingOf(path: string): string {
  const name = basename(path)
  return extname(compressionOf(name) === null ? name : name.slice(0, -extname(name).length)).toLowerCase()
}
