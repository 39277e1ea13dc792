import type { DatabaseInfo } from '../../../location/database-info.ts'

/** What a report says of the run, beside what was counted. */
export interface ReportFacts {
  /** Names of the inputs as they were given. Empty or `-`: standard input. */
  readonly sources: readonly string[]
  readonly startedAt: Date
  /** How long the run took. */
  readonly seconds: number
  /** Bytes that were read, decompressed; `null` where that is not known. */
  readonly bytes: number | null
  /** Threads that enriched. */
  readonly threads: number
  /** Of geofix. */
  readonly version: string
  /** The databases that were asked, in their order. */
  readonly databases: readonly ReportedDatabase[]
}

export type ReportedDatabase = Pick<DatabaseInfo, 'type' | 'buildDate' | 'licence' | 'attribution'>
