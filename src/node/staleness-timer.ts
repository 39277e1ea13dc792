import type { DatabaseInfo } from '../location/database-info.ts'

const DAY_MS = 86_400_000

/** Reports databases when their build date is older than a limit. Its timer does not keep the process alive. */
export class StalenessTimer {
  readonly #limitMs: number
  readonly #report: (stale: readonly DatabaseInfo[]) => void
  #databases: readonly DatabaseInfo[] = []
  #timer: NodeJS.Timeout | undefined

  /**
   * @param days after the build date at which a database is stale
   * @param report is called with all stale databases when another one becomes stale
   */
  constructor(days: number, report: (stale: readonly DatabaseInfo[]) => void) {
    this.#limitMs = days * DAY_MS
    this.#report = report
  }

  /** The databases that are stale now. Those without a build date always are. */
  get stale(): readonly DatabaseInfo[] {
    return this.#databases.filter((database) => this.#remainingMs(database) < 0)
  }

  /** Watches these databases from now on, instead of the previous ones. */
  watch(databases: readonly DatabaseInfo[]): void {
    this.stop()
    this.#databases = databases
    this.#check(new Set())
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  /** @param reported the databases that were reported as stale before */
  #check(reported: ReadonlySet<DatabaseInfo>): void {
    const { stale } = this
    const remaining = this.#databases.map((database) => this.#remainingMs(database)).filter((ms) => ms >= 0)
    if (remaining.length > 0) {
      // Check daily: clocks change, machines sleep, and timers are limited to 24 days.
      const delay = Math.min(...remaining, DAY_MS) + 1
      this.#timer = setTimeout(() => this.#check(new Set(stale)), delay).unref()
    }
    if (stale.some((database) => !reported.has(database))) this.#report(stale)
  }

  /** Negative when the database is stale. */
  #remainingMs({ buildDate }: DatabaseInfo): number {
    return buildDate === null ? -1 : buildDate.getTime() + this.#limitMs - Date.now()
  }
}
