import type { GroupPart } from './groups.ts'

/**
 * Why a line has no location: a reason of `UnresolvableAddressError`, or
 * - `missing`: the line has no address, because the field is absent, empty, `-` or `null`
 * - `malformed`: the value of the field is not an address
 * - `invalid-database`: the database is damaged at the entry of the address
 */
export type FailureReason = (typeof FAILURE_REASONS)[number]

/** All reasons. A test compares them with `UnresolvableReason`. */
export const FAILURE_REASONS = [
  'missing',
  'malformed',
  'unspecified',
  'loopback',
  'private',
  'shared',
  'link-local',
  'multicast',
  'documentation',
  'benchmarking',
  'reserved',
  'not-found',
  'unidentified',
  'trusted-proxy',
  'invalid-database',
] as const

/** A line that could not be read. */
export interface BadLine {
  /** The number of the line, from 1. */
  readonly line: number
  readonly message: string
}

/** Unreadable lines with the same text and the same fault. */
export interface BadLineGroup extends BadLine {
  /** The start of the line; `null` if the run does not show it. */
  readonly text: string | null
  count: number
}

/** The counts of some lines. Plain data that survives `structuredClone`. */
export interface Counts {
  /** blank + bad + resolved + failed + excluded. CSV and TSV: records, without the header. */
  lines: number
  blank: number
  /** Lines with a location. */
  resolved: number
  /** Lines without a location, by reason. Omits reasons that did not occur. */
  failed: Partial<Record<FailureReason, number>>
  /** Lines in countries that `onlyCountries` or `notCountries` leaves out. Nothing else of them is counted. */
  excluded: number
  /** Lines that could not be read. */
  bad: number
  /** The first five of them. */
  badLines: BadLine[]
  /**
   * Lines that look unusual, counted above too: text follows a closing quote, or a record of a table has
   * more than ten lines. A quote that does not belong there may have joined rows.
   */
  doubtful: number
  /** The first five of them. */
  doubtfulLines: BadLine[]
  /**
   * Lines, resolved or failed, without a readable time. Their offset is the one at the option `at`, or `null`
   * without that option.
   */
  withoutTime: number
}

/** The counts of some lines while they are added up. */
export interface RunningCounts extends Counts {
  /** The groups of the lines whose locations are counted now, for each query of the plan; absent otherwise. */
  parts?: readonly GroupPart[]
  /** The first groups of bad lines, at most {@link MAX_BAD_LINE_GROUPS}; absent if the plan does not group them. */
  badLineGroups?: readonly BadLineGroup[]
  /** The counts of the other addresses of each line; absent if there are none. */
  others?: RunningCounts[]
}

/** How many bad lines are kept for messages. */
export const BAD_LINES_SHOWN = 5

/** How many groups of bad lines are kept. */
const MAX_BAD_LINE_GROUPS = 20
/** Bytes of a bad line that a report shows. */
const MAX_BAD_TEXT_BYTES = 200

export function emptyCounts(): RunningCounts {
  return {
    lines: 0,
    blank: 0,
    resolved: 0,
    failed: {},
    excluded: 0,
    bad: 0,
    badLines: [],
    doubtful: 0,
    doubtfulLines: [],
    withoutTime: 0,
  }
}

/** The counts without the members that only adding needs. */
export function finishedCounts({
  parts: _,
  badLineGroups: __,
  others: ___,
  ...counts
}: RunningCounts): Counts {
  return counts
}

/**
 * Counts what was found in a line that was read.
 *
 * @param number the index of the reason why it has no location, or a larger number
 */
export function countRead(counts: RunningCounts, number: number, hasTime: boolean): void {
  if (!hasTime) counts.withoutTime++
  const reason = number < FAILURE_REASONS.length ? FAILURE_REASONS[number] : undefined
  if (reason === undefined) counts.resolved++
  else counts.failed[reason] = (counts.failed[reason] ?? 0) + 1
}

/** Counts a line that cannot be read. @param groups how such lines are grouped, if they are */
export function addBadLine(
  counts: RunningCounts,
  { line, message }: BadLine,
  bytes: Uint8Array,
  groups: 'text' | 'fault' | undefined,
): void {
  counts.bad++
  if (groups !== undefined)
    addBadLineGroup(counts, { line, message, text: groups === 'text' ? startOfText(bytes) : null, count: 1 })
  if (counts.badLines.length < BAD_LINES_SHOWN) counts.badLines.push({ line, message })
}

/** The text of a line, cut to {@link MAX_BAD_TEXT_BYTES}. */
function startOfText(bytes: Uint8Array): string {
  // A copy, because a decoder does not read shared memory.
  const text = new TextDecoder().decode(bytes.slice(0, MAX_BAD_TEXT_BYTES))
  return bytes.length <= MAX_BAD_TEXT_BYTES ? text : `${text.replace(/\ufffd$/, '')}…`
}

/** Adds a group to those that are known, if there is room. */
function addBadLineGroup(counts: RunningCounts, group: BadLineGroup): void {
  const groups = counts.badLineGroups ?? []
  const known = groups.find(({ message, text }) => message === group.message && text === group.text)
  if (known !== undefined) known.count += group.count
  else if (groups.length < MAX_BAD_LINE_GROUPS) counts.badLineGroups = [...groups, { ...group }]
}

/**
 * Adds `other` to `into`.
 *
 * @param linesBefore what to add to the numbers of its bad lines
 */
export function mergeCounts(into: RunningCounts, other: RunningCounts, linesBefore = 0): void {
  into.lines += other.lines
  into.blank += other.blank
  into.resolved += other.resolved
  into.excluded += other.excluded
  into.bad += other.bad
  into.doubtful += other.doubtful
  into.withoutTime += other.withoutTime
  for (const reason of FAILURE_REASONS) {
    const count = other.failed[reason]
    if (count !== undefined) into.failed[reason] = (into.failed[reason] ?? 0) + count
  }
  // Most runs have no such lines: do not make new lists for each block.
  if (other.badLines.length > 0) into.badLines = firstLines(into.badLines, other.badLines, linesBefore)
  if (other.doubtfulLines.length > 0)
    into.doubtfulLines = firstLines(into.doubtfulLines, other.doubtfulLines, linesBefore)
  for (const group of other.badLineGroups ?? [])
    addBadLineGroup(into, { ...group, line: group.line + linesBefore })
  for (const [index, each] of (other.others ?? []).entries()) {
    into.others ??= []
    into.others[index] ??= emptyCounts()
    mergeCounts(into.others[index], each)
  }
}

function firstLines(lines: readonly BadLine[], others: readonly BadLine[], linesBefore: number): BadLine[] {
  return [...lines, ...others.map(({ line, message }) => ({ line: line + linesBefore, message }))]
    .sort((a, b) => a.line - b.line)
    .slice(0, BAD_LINES_SHOWN)
}

/** The reasons that occurred, with their counts, in the order of `FAILURE_REASONS`. */
export function failuresOf({ failed }: Counts): [reason: FailureReason, count: number][] {
  return FAILURE_REASONS.flatMap((reason) => {
    const count = failed[reason]
    return count === undefined ? [] : [[reason, count]]
  })
}

/** Records in which no address could be read. */
export function withoutAddress({ bad, failed }: Counts): number {
  return bad + (failed.missing ?? 0) + (failed.malformed ?? 0)
}
