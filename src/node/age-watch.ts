import type { DatabaseInfo } from '../location/database-info.ts'

const MILLISECONDS_PER_DAY = 86_400_000

/** Judges the age of databases by their build dates, now and when the day comes. Keeps no process alive. */
export class AgeWatch {
  readonly #limit: number
  readonly #tell: (stale: readonly DatabaseInfo[]) => void
  #databases: readonly DatabaseInfo[] = []
  #timer: NodeJS.Timeout | undefined

  /**
   * @param days after which a database is stale
   * @param tell is told of databases that have become stale
   */
  constructor(days: number, tell: (stale: readonly DatabaseInfo[]) => void) {
    this.#limit = days * MILLISECONDS_PER_DAY
    this.#tell = tell
  }

  /** Those that are stale now; one without a build date is. */
  get stale(): readonly DatabaseInfo[] {
    return this.#databases.filter((database) => this.#rest(database) < 0)
  }

  /** Judges other databases from now on. */
  judge(databases: readonly DatabaseInfo[]): void {
    this.stop()
    this.#databases = databases
    this.#look(new Set())
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  /** @param told those that are known to be stale */
  #look(told: ReadonlySet<DatabaseInfo>): void {
    const { stale } = this
    const next = this.#databases.map((database) => this.#rest(database)).filter((rest) => rest >= 0)
    if (next.length > 0) {
      // Daily, because clocks are set and machines sleep, and because timers hold at most 24 days.
      const delay = Math.min(...next, MILLISECONDS_PER_DAY) + 1
      this.#timer = setTimeout(() => this.#look(new Set(stale)), delay).unref()
    }
    if (stale.some((database) => !told.has(database))) this.#tell(stale)
  }

  /** Milliseconds until a database is stale, below 0 if it is. */
  #rest({ buildDate }: DatabaseInfo): number {
    return buildDate === null ? -1 : buildDate.getTime() + this.#limit - Date.now()
  }
}
