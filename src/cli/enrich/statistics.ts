import { type CountryCount, type Counts, failuresOf } from '../../enrich/counts.ts'
import type { Format } from '../../enrich/options.ts'
import { atLeast, bytesText, countOf, countText, durationText, shareText } from '../figures.ts'
import { printable } from '../terminal.ts'

/** The number of countries that are shown. */
const TOP = 10

/** A line that could not be read, and its input. */
export interface BadLineOf {
  readonly input: string
  /** From 1, in its input. */
  readonly line: number
  readonly message: string
}

/** What the statistics say about a finished run, besides the counts. */
export interface RunFacts {
  readonly inputs: readonly string[]
  readonly format: Format | null
  /** Whether `--at` gives the instant for lines without a time. */
  readonly hasInstant: boolean
  /** The first five of the run. */
  readonly badLines: readonly BadLineOf[]
  /** Before decompression. */
  readonly bytesRead: number
  /** Before compression. */
  readonly bytesWritten: number
  readonly threads: number
  readonly seconds: number
}

/** The statistics as JSON. The keys are stable, because programs read them. */
export function statisticsJson(tally: Counts, facts: RunFacts): string {
  const failed = Object.fromEntries(failuresOf(tally))
  return JSON.stringify({
    lines: tally.lines,
    resolved: tally.resolved,
    unresolved: unresolved(tally),
    failed,
    bad: tally.bad,
    badLines: facts.badLines,
    blank: tally.blank,
    withoutTime: tally.withoutTime,
    distinctCountries: tally.countries.size,
    topCountries: top(tally),
    inputs: facts.inputs,
    format: facts.format,
    bytesRead: facts.bytesRead,
    bytesWritten: facts.bytesWritten,
    threads: facts.threads,
    seconds: Math.round(facts.seconds * 1000) / 1000,
    linesPerSecond: Math.round(rate(tally, facts)),
  })
}

/** The statistics as text for people. */
export function statisticsText(tally: Counts, facts: RunFacts): string {
  const rows: string[] = []
  const share = (count: number): string => `${countText(count)} (${shareText(count, tally.lines)})`
  rows.push(
    `${countOf(tally.lines, 'line', 'lines')}, ${bytesText(facts.bytesRead)} in ${durationText(facts.seconds)} on ${countOf(facts.threads, 'thread', 'threads')}: ${countText(rate(tally, facts))} lines/s`,
  )
  rows.push(`  resolved      ${share(tally.resolved)}`)
  const failures = failuresOf(tally).sort(([, a], [, b]) => b - a)
  if (failures.length > 0) {
    const reasons = failures.map(([reason, count]) => `${countText(count)} ${reason}`).join(', ')
    rows.push(`  not resolved  ${share(unresolved(tally))}: ${reasons}`)
  }
  if (tally.blank > 0) rows.push(`  blank         ${share(tally.blank)}`)
  if (tally.bad > 0) {
    rows.push(`  unreadable    ${share(tally.bad)}`)
    for (const { input, line, message } of facts.badLines) {
      rows.push(`    ${printable(input)}, line ${countText(line)}: ${printable(message)}`)
    }
    if (tally.bad > facts.badLines.length) {
      rows.push(`    and ${countText(tally.bad - facts.badLines.length)} more`)
    }
  }
  if (tally.withoutTime > 0) {
    const offset = facts.hasInstant
      ? 'the offset is that of --at'
      : 'the offset is unknown unless --at says when'
    rows.push(`  without time  ${share(tally.withoutTime)}: ${offset}`)
  }
  if (tally.countries.size > 0) {
    const named = top(tally).map((country) => `${nameOf(country)} ${countText(country.count)}`)
    rows.push(
      `  countries     ${atLeast(countText(tally.countries.size), tally.overflow.countries)}: ${named.join(', ')}`,
    )
  }
  return rows.join('\n')
}

function rate(tally: Counts, { seconds }: RunFacts): number {
  return seconds > 0 ? tally.lines / seconds : 0
}

function unresolved(tally: Counts): number {
  return failuresOf(tally).reduce((sum, [, count]) => sum + count, 0)
}

function top({ countries }: Counts): CountryCount[] {
  // Decide ties by key: the order must not depend on which thread counted a country first.
  return [...countries.entries()]
    .sort(([aKey, a], [bKey, b]) => b.count - a.count || (aKey < bKey ? -1 : 1))
    .slice(0, TOP)
    .map(([, { code, name, count }]) => ({ code, name, count }))
}

function nameOf({ code, name }: CountryCount): string {
  return printable(name ?? code ?? 'unknown')
}
