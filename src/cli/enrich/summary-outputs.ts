// The files of --summary.
import { mkdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Counts } from '../../enrich/counting/counts.ts'
import type { ReportDetails } from '../report/report.ts'
import type { Output } from './output.ts'
import { unwritable } from './system-error.ts'

export const SUMMARY_FORMS = ['html', 'json', 'csv', 'geojson', 'md'] as const

/** A summary to write: a file, or for CSV a folder of files. */
export interface SummaryTarget {
  readonly form: (typeof SUMMARY_FORMS)[number]
  readonly path: string
}

/** A file of a summary; of CSV, that of one table. */
interface SummaryFile {
  readonly form: SummaryTarget['form']
  readonly table: string | null
  readonly output: Output
}

/** The summaries of a run. Their files are opened before the first line is read, so that nothing is counted in vain. */
export class SummaryOutputs {
  readonly #files: readonly SummaryFile[]

  private constructor(files: readonly SummaryFile[]) {
    this.#files = files
  }

  /**
   * @param open opens a file
   * @param made receives each folder that is made, the outer ones first
   * @throws what `open` throws; CommandFailure when a folder cannot be made
   */
  static async open(
    targets: readonly SummaryTarget[],
    open: (path: string) => Promise<Output>,
    made: (folder: string) => void,
  ): Promise<SummaryOutputs> {
    const files: SummaryFile[] = []
    for (const { form, path } of targets) {
      if (form !== 'csv') {
        files.push({ form, table: null, output: await open(path) })
        continue
      }
      const { CSV_TABLES } = await import('../report/summary.ts')
      const first = await mkdir(path, { recursive: true }).catch((cause) => {
        throw unwritable(path, cause)
      })
      if (first !== undefined) for (const folder of foldersFrom(resolve(first), resolve(path))) made(folder)
      for (const table of CSV_TABLES)
        files.push({ form, table, output: await open(join(path, `${table}.csv`)) })
    }
    return new SummaryOutputs(files)
  }

  get isEmpty(): boolean {
    return this.#files.length === 0
  }

  /** Writes all, and leaves them without their names. @throws CommandFailure, ClosedPipe */
  async write(counts: Counts, details: ReportDetails): Promise<void> {
    // Lazy: the report's code and map are only loaded when asked for.
    const [{ renderReport, titleOf }, forms] = await Promise.all([
      import('../report/report.ts'),
      import('../report/summary.ts'),
    ])
    const dataTexts = () => {
      const summary = forms.summaryOf(counts, details)
      const tables = new Map(Object.entries(summary.tables))
      return {
        json: () => forms.summaryJson(summary),
        csv: (table: string | null) => forms.tableCsv(tables.get(table ?? '') ?? []),
        geojson: () => forms.summaryGeoJson(summary),
        md: () => forms.summaryMarkdown(titleOf(details), summary),
      }
    }
    // Sorting the rows of all tables takes longer than the page.
    const texts = this.#files.some(({ form }) => form !== 'html') ? dataTexts() : null
    for (const { form, table, output } of this.#files) {
      const text = form === 'html' ? renderReport(counts, details) : (texts?.[form](table) ?? '')
      await output.write(Buffer.from(text))
      await output.flush()
    }
  }

  async finish(): Promise<void> {
    for (const { output } of this.#files) await output.finish()
  }
}

/** The folders from one to another one in it. */
function foldersFrom(outer: string, inner: string): string[] {
  const parent = dirname(inner)
  return inner === outer || parent === inner ? [inner] : [...foldersFrom(outer, parent), inner]
}
