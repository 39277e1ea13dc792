import { type CountryCount, type Counts, failuresOf } from '../../enrich/counts.ts'
import type { Format } from '../../enrich/formats/formats.ts'
import type { BadInputLine } from '../../enrich/run.ts'
import { atLeast, bytesText, countOf, countText, durationText, shareText } from '../figures.ts'
import { printable } from '../terminal.ts'

/** The number of countries that are shown. */
const TOP = 10

/** What the statistics say about a finished run, besides the counts. */
export interface RunFacts {
  readonly inputs: readonly string[]
  readonly format: Format | null
  /** Whether `--at` gives the instant for lines without a time. */
  readonly hasInstant: boolean
  /** The first five of the run. */
  readonly badLines: readonly BadInputLine[]
  /** Before decompression. */
  readonly bytesRead: number
  /** Before compression. */
  readonly bytesWritten: number
  readonly threads: number
  readonly seconds: number
}

/** The statistics as JSON. The keys are stable, because programs read them. */
export function statisticsJson(counts: Counts, facts: RunFacts): string {
  const failed = Object.fromEntries(failuresOf(counts))
  return JSON.stringify({
    lines: counts.lines,
    resolved: counts.resolved,
    unresolved: unresolved(counts),
    failed,
    bad: counts.bad,
    badLines: facts.badLines,
    blank: counts.blank,
    withoutTime: counts.withoutTime,
    distinctCountries: counts.countries.size,
    topCountries: top(counts),
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
  rows.push(`  resolved      ${share(counts.resolved)}`)
  const failures = failuresOf(counts).sort(([, a], [, b]) => b - a)
  if (failures.length > 0) {
    const reasons = failures.map(([reason, count]) => `${countText(count)} ${reason}`).join(', ')
    rows.push(`  not resolved  ${share(unresolved(counts))}: ${reasons}`)
  }
  if (counts.blank > 0) rows.push(`  blank         ${share(counts.blank)}`)
  if (counts.bad > 0) {
    rows.push(`  unreadable    ${share(counts.bad)}`)
    for (const { input, line, message } of facts.badLines) {
      rows.push(`    ${printable(input)}, line ${countText(line)}: ${printable(message)}`)
    }
    if (counts.bad > facts.badLines.length) {
      rows.push(`    and ${countText(counts.bad - facts.badLines.length)} more`)
    }
  }
  if (counts.withoutTime > 0) {
    const offset = facts.hasInstant
      ? 'the offset is that of --at'
      : 'the offset is unknown unless --at says when'
    rows.push(`  without time  ${share(counts.withoutTime)}: ${offset}`)
  }
  if (counts.countries.size > 0) {
    const named = top(counts).map((country) => `${nameOf(country)} ${countText(country.count)}`)
    rows.push(
      `  countries     ${atLeast(countText(counts.countries.size), counts.overflow.countries)}: ${named.join(', ')}`,
    )
  }
  return rows.join('\n')
}

function rate(counts: Counts, { seconds }: RunFacts): number {
  return seconds > 0 ? counts.lines / seconds : 0
}

function unresolved(counts: Counts): number {
  return failuresOf(counts).reduce((sum, [, count]) => sum + count, 0)
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
