// What a run will write of the start of an input, for its explanation, and to plan the other addresses of each line.
import { ByteSink } from '../../bytes/byte-sink.ts'
import { checkAddresses } from '../../enrich/address-check.ts'
import { BlockEnricher } from '../../enrich/block-enricher.ts'
import { type Counts, emptyCounts, mergeCounts } from '../../enrich/counting/counts.ts'
import {
  definitionOf,
  type EnrichOptions,
  FORMATS,
  type Format,
  layoutOf,
  makePlan,
  type Plan,
} from '../../enrich/formats/formats.ts'
import { DEFAULT_LINE_BYTES, MAX_LINE_BYTES, type Planned, UNMASKED } from '../../enrich/options.ts'
import { sampleBlocks } from '../../enrich/reading/splitter.ts'
import type { DatabaseSet } from '../../location/database-set.ts'
import { UsageError } from '../terminal.ts'
import { type AddressOption, asUsage, type EnrichCommand } from './command-line.ts'

/** Room for the locations that earlier plans have added to a line. Bytes. */
const LOCATION_ROOM_BYTES = 65_536
/** Lines of each kind that are shown. */
const LINES_SHOWN = 3
const MAX_LINE_CHARS = 2000

/** Imports the definitions of the formats besides access logs, which most runs do without. */
export function loadFormats(): Promise<unknown> {
  return import('../../enrich/formats/all-formats.ts')
}

/** The start of an input. */
export interface InputStart {
  readonly sample: Uint8Array
  readonly isWhole: boolean
  /** Whether the input paused before the sample was full. */
  readonly isCut: boolean
}

/** The start of an input, and how it is read. */
export interface Start extends InputStart, Planned<Plan> {}

/**
 * Plans the start of an input by the form of the output. `isKept` says whether the input has this form already. It is kept then.
 *
 * @param options those of the first address
 * @param made more options for lines whose form is not kept
 * @throws UsageError when an option is wrong
 */
export function planStart(
  start: InputStart,
  { inputs, to, table, isArray, leavesOut }: EnrichCommand,
  options: Parameters<typeof makePlan>[2],
  made: Partial<EnrichOptions> = {},
) {
  const { sample, isWhole, isCut } = start
  const planned = (more: (format: Format) => EnrichOptions) =>
    asUsage(() => makePlan(sample, isWhole, options, isCut, more))
  const isKept = (format: Format): boolean =>
    format === table || (isArray && !leavesOut && format === 'json' && inputs.length === 1)
  const { plan, notes } = planned((format) => (isKept(format) ? {} : { to, ...made }))
  return { ...start, plan, notes, isKept: isKept(plan.format), kept: () => planned(() => ({})) }
}

/** A start, and what the run writes of it. */
export interface LocatedStart extends Start {
  readonly counts: Counts
  readonly output: Uint8Array
  /** The first headers and located lines of it. */
  readonly shown: readonly string[]
}

/**
 * Plans the other addresses of each line, by what is written of the sample. Yields the start for each address, that of the first
 * one included.
 *
 * @param first its plan keeps the addresses
 * @param others the other addresses
 * @param options those of the first address
 * @param name of the input, for messages
 * @throws EnrichError when an address cannot be found in the lines
 * @throws UsageError when other addresses of these lines cannot be located
 */
export function* locatedStarts(
  first: Start,
  others: readonly AddressOption[],
  options: EnrichOptions,
  name: string,
  set: DatabaseSet,
): Generator<LocatedStart> {
  let located = locatedStart(first, set)
  yield located
  if (others.length === 0) return
  const format = formatAfter(first.plan, name)
  // A line became longer by the locations before.
  const maxLineBytes = Math.min(
    (options.maxLineBytes ?? DEFAULT_LINE_BYTES) + LOCATION_ROOM_BYTES,
    MAX_LINE_BYTES,
  )
  for (const [index, { field, into }] of others.entries()) {
    const sample = located.output
    const masks = index === others.length - 1 ? {} : UNMASKED
    const own = { field, into, format, to: undefined, details: false, maxLineBytes }
    const planned = asUsage(() =>
      makePlan(sample, first.isWhole, { ...options, ...own, ...masks }, first.isCut),
    )
    located = locatedStart({ ...first, ...planned, sample }, set)
    yield located
  }
}

/** The format of the lines that a plan writes. @throws UsageError when another address of these lines cannot be located */
function formatAfter(plan: Plan, name: string): Format {
  const next = asUsage(() => definitionOf(plan.format).nextFormat?.(plan))
  if (next !== undefined) return next
  const formats = FORMATS.filter((format) => definitionOf(format).nextFormat !== undefined)
  throw new UsageError(`Several fields are for ${formats.join(', ')}, and ${name} is ${plan.format}.`)
}

/** Locates an address in each line of a sample. @throws EnrichError when there is none */
function locatedStart(start: Start, set: DatabaseSet): LocatedStart {
  const { plan, sample, isWhole } = start
  const enricher = new BlockEnricher(plan, set)
  checkAddresses(enricher, plan, sample, isWhole)
  const counts = emptyCounts()
  const all = new ByteSink()
  const headers: string[] = []
  const lines: string[] = []
  const decoder = new TextDecoder()
  for (const block of sampleBlocks(sample, isWhole, layoutOf(plan))) {
    for (const { output, counts: own } of enricher.pieces(block)) {
      mergeCounts(counts, own)
      all.write(output)
      // Directives that get no fields are not shown.
      const isHeader = own.lines === 0 && output.length > block.bytes.length
      const to = own.resolved > 0 ? lines : isHeader ? headers : null
      if (to !== null && to.length < LINES_SHOWN)
        to.push(decoder.decode(output).trim().slice(0, MAX_LINE_CHARS))
    }
  }
  return { ...start, counts, output: all.take(), shown: [...headers, ...lines] }
}
