import { clearLine, cursorTo } from 'node:readline'
import { type Counts, failuresOf } from '../../enrich/counting/counts.ts'
import type { CountryCount } from '../../enrich/counting/totals.ts'
import type { Format } from '../../enrich/formats/formats.ts'
import type { BadInputLine } from '../../enrich/run.ts'
import { atLeast, bytesText, countOf, countText, durationText, shareText } from '../figures.ts'
import { printable, type Terminal } from '../terminal.ts'

/** The number of countries that are shown. */
const TOP = 10

/** What the statistics say about a finished run, besides the counts. */
export interface RunFacts {
  readonly inputs: readonly string[]
  readonly format: Format | null
  /** Lines with a location by country: see `countriesOf`. */
  readonly countries: ReadonlyMap<string, CountryCount>
  /** Lines in further countries. */
  readonly otherCountries: number
  /** Whether `--at` gives the instant for lines without a time. */
  readonly hasInstant: boolean
  /** The first five bad lines of the run. */
  readonly badLines: readonly BadInputLine[]
  /** The first five doubtful lines of the run. */
  readonly doubtfulLines: readonly BadInputLine[]
  /** Bytes read, before decompression. */
  readonly bytesRead: number
  /** Bytes written, before compression. */
  readonly bytesWritten: number
  /** The counts of the other addresses of each line, by the name of what was added. */
  readonly others: readonly { readonly into: string; readonly counts: Counts }[]
  readonly threads: number
  readonly seconds: number
}

/** The statistics as JSON. The keys are stable, because programs read them. */
export function statisticsJson(counts: Counts, facts: RunFacts): string {
  return JSON.stringify({
    lines: counts.lines,
    ...located(counts),
    bad: counts.bad,
    badLines: facts.badLines,
    doubtful: counts.doubtful,
    doubtfulLines: facts.doubtfulLines,
    blank: counts.blank,
    ...(counts.excluded > 0 && { excluded: counts.excluded }),
    withoutTime: counts.withoutTime,
    distinctCountries: facts.countries.size,
    topCountries: top(facts),
    ...(facts.others.length > 0 && {
      others: facts.others.map(({ into, counts: own }) => ({ into, ...located(own) })),
    }),
    inputs: facts.inputs,
    format: facts.format,
    bytesRead: facts.bytesRead,
    bytesWritten: facts.bytesWritten,
    threads: facts.threads,
    seconds: Math.round(facts.seconds * 1000) / 1000,
    linesPerSecond: Math.round(rate(counts, facts)),
  })
}

/** The statistics as text for people. */
export function statisticsText(counts: Counts, facts: RunFacts): string {
  const rows: string[] = []
  const share = (count: number): string => `${countText(count)} (${shareText(count, counts.lines)})`
  rows.push(
    `${countOf(counts.lines, 'line', 'lines')}, ${bytesText(facts.bytesRead)} in ${durationText(facts.seconds)} on ${countOf(facts.threads, 'thread', 'threads')}: ${countText(rate(counts, facts))} lines/s`,
  )
  const addLocated = (own: Counts): void => {
    rows.push(`  resolved      ${share(own.resolved)}`)
    const failures = failuresOf(own).sort(([, a], [, b]) => b - a)
    const reasons = failures.map(([reason, count]) => `${countText(count)} ${reason}`).join(', ')
    if (failures.length > 0) rows.push(`  not resolved  ${share(unresolved(own))}: ${reasons}`)
  }
  addLocated(counts)
  if (counts.blank > 0) rows.push(`  blank         ${share(counts.blank)}`)
  const list = (count: number, lines: readonly BadInputLine[]): void => {
    for (const { input, line, message } of lines) {
      rows.push(`    ${printable(input)}, line ${countText(line)}: ${printable(message)}`)
    }
    if (count > lines.length) rows.push(`    and ${countText(count - lines.length)} more`)
  }
  if (counts.excluded > 0) rows.push(`  left out      ${share(counts.excluded)}: other countries`)
  if (counts.bad > 0) {
    rows.push(`  unreadable    ${share(counts.bad)}`)
    list(counts.bad, facts.badLines)
    if (facts.format === 'access-log') rows.push('    to read lines of several forms: --format text')
  }
  if (counts.doubtful > 0) {
    rows.push(`  doubtful      ${share(counts.doubtful)}`)
    list(counts.doubtful, facts.doubtfulLines)
  }
  if (counts.withoutTime > 0) {
    const offset = facts.hasInstant
      ? 'the offset is that of --at'
      : 'the offset is unknown unless --at says when'
    rows.push(`  without time  ${share(counts.withoutTime)}: ${offset}`)
  }
  if (facts.countries.size > 0) {
    const named = top(facts).map(
      ({ code, name, count }) => `${printable(name ?? code ?? 'unknown')} ${countText(count)}`,
    )
    rows.push(
      `  countries     ${atLeast(countText(facts.countries.size), facts.otherCountries)}: ${named.join(', ')}`,
    )
  }
  for (const { into, counts: own } of facts.others) {
    rows.push(printable(into))
    addLocated(own)
  }
  return rows.join('\n')
}

function located(counts: Counts) {
  const failed = Object.fromEntries(failuresOf(counts))
  return { resolved: counts.resolved, unresolved: unresolved(counts), failed }
}

function rate(counts: Counts, { seconds }: RunFacts): number {
  return seconds > 0 ? counts.lines / seconds : 0
}

function unresolved(counts: Counts): number {
  return failuresOf(counts).reduce((sum, [, count]) => sum + count, 0)
}

function top({ countries }: RunFacts): CountryCount[] {
  // Decide ties by key: the order must not depend on which thread counted a country first.
  return [...countries.entries()]
    .sort(([aKey, a], [bKey, b]) => b.count - a.count || (aKey < bKey ? -1 : 1))
    .slice(0, TOP)
    .map(([, country]) => country)
}

const UPDATE_INTERVAL_MS = 150

/** Until this time, the rate is too uncertain to estimate the time left. */
const MIN_ESTIMATE_SECONDS = 1

/** The width if the terminal does not report one. */
const DEFAULT_COLUMNS = 80

/** The progress of a run. */
export interface Position {
  /** Bytes read, before decompression. */
  readonly bytes: number
  /** All bytes to read; `null` if unknown, as for a pipe. */
  readonly size: number | null
  readonly lines: number
  /** The share of the work that is done, where no bytes are read, up to 1; `null` if unknown. */
  readonly share?: number | null
}

/** A line of progress on a terminal, rewritten in place until it is stopped. */
export class Progress {
  readonly #stderr: Terminal['stderr']
  readonly #timer: NodeJS.Timeout
  #isShown = false

  constructor(stderr: Terminal['stderr'], position: () => Position) {
    const startedAt = performance.now()
    this.#stderr = stderr
    this.#timer = setInterval(() => {
      this.#show(progressText(position(), (performance.now() - startedAt) / 1000))
    }, UPDATE_INTERVAL_MS)
    this.#timer.unref()
  }

  /** Erases the line until the next update, so that other text can be written. */
  clear(): void {
    if (!this.#isShown) return
    this.#isShown = false
    cursorTo(this.#stderr, 0)
    clearLine(this.#stderr, 0)
  }

  /** Erases the line and ends the updates. */
  stop(): void {
    clearInterval(this.#timer)
    this.clear()
  }

  #show(text: string): void {
    this.#isShown = true
    cursorTo(this.#stderr, 0)
    // A text as wide as the terminal would wrap, and only its last row could be erased.
    this.#stderr.write(text.slice(0, (this.#stderr.columns ?? DEFAULT_COLUMNS) - 1))
    clearLine(this.#stderr, 1)
  }
}

/** @param seconds since the start */
export function progressText({ bytes, size, lines, share = null }: Position, seconds: number): string {
  const parts = share === null ? [] : [shareText(share, 1)]
  parts.push(size === null ? bytesText(bytes) : `${shareText(bytes, size)} of ${bytesText(size)}`)
  if (seconds > 0) parts.push(`${countText(lines / seconds)} lines/s`)
  if (size !== null && seconds >= MIN_ESTIMATE_SECONDS && bytes > 0) {
    // Round up: reading is ahead of writing, and an estimate that is too long is better than one that is too short.
    const left = Math.ceil(((size - bytes) * seconds) / bytes)
    parts.push(`${durationText(Math.max(left, 1))} left`)
  } else parts.push(durationText(Math.floor(seconds)))
  return parts.join(' · ')
}
