import { Session } from 'node:inspector'

/** Which parts of a script run, by V8's own counts. */
export class BlockCoverage {
  readonly #session = new Session()
  readonly #url: string

  /** @param url of the script */
  constructor(url: string) {
    this.#url = url
    this.#session.connect()
    this.#session.post('Profiler.enable')
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** The parts that have run since the last time, as numbers of their own. */
  take(): Set<number> {
    const parts = new Set<number>()
    this.#session.post('Profiler.takePreciseCoverage', (error, coverage) => {
      if (error !== null) throw error
      const ours = coverage.result.filter(({ url }) => url === this.#url)
      for (const { ranges } of ours.flatMap(({ functions }) => functions)) {
        for (const { startOffset, endOffset, count } of ranges) {
          if (count > 0) parts.add(startOffset * 2 ** 24 + endOffset)
        }
      }
    })
    return parts
  }

  stop(): void {
    this.#session.disconnect()
  }
}
