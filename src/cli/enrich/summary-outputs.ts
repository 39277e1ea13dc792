// The files of --summary.
import type { Counts } from '../../enrich/counting/counts.ts'
import type { ReportDetails } from '../report/report.ts'
import type { Output } from './output.ts'

export const SUMMARY_FORMS = ['html', 'json', 'geojson'] as const

/** A summary to write. */
export interface SummaryTarget {
  readonly form: (typeof SUMMARY_FORMS)[number]
  readonly path: string
}

/** The summaries of a run. Their files are opened before the first line is read, so that nothing is counted in vain. */
export class SummaryOutputs {
  readonly #files: { readonly form: SummaryTarget['form']; readonly output: Output }[] = []

  /**
   * @param open opens a file
   * @throws what `open` throws
   */
  static async open(
    targets: readonly SummaryTarget[],
    open: (path: string) => Promise<Output>,
  ): Promise<SummaryOutputs> {
    const summaries = new SummaryOutputs()
    for (const { form, path } of targets) summaries.#files.push({ form, output: await open(path) })
    return summaries
  }

  get isEmpty(): boolean {
    return this.#files.length === 0
  }

  /** Writes all, and leaves them without their names. @throws CommandFailure, ClosedPipe */
  async write(counts: Counts, details: ReportDetails): Promise<void> {
    // Lazy: the report's code and map are only loaded when asked for.
    const [{ renderReport }, { summaryGeoJson, summaryJson, summaryOf }] = await Promise.all([
      import('../report/report.ts'),
      import('../report/summary.ts'),
    ])
    const texts = {
      html: () => renderReport(counts, details),
      json: () => summaryJson(summaryOf(counts, details)),
      geojson: () => summaryGeoJson(summaryOf(counts, details)),
    }
    for (const { form, output } of this.#files) {
      await output.write(Buffer.from(texts[form]()))
      await output.flush()
    }
  }

  async finish(): Promise<void> {
    for (const { output } of this.#files) await output.finish()
  }
}
