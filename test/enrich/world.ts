import { ByteSink } from '../../src/bytes/byte-sink.ts'
import { Resolver } from '../../src/core.ts'
import { BlockEnricher } from '../../src/enrich/block-enricher.ts'
import { type Counts, emptyCounts, mergeCounts } from '../../src/enrich/counting/counts.ts'
import type { GroupTotals } from '../../src/enrich/counting/totals.ts'
import { BadLineError } from '../../src/enrich/errors.ts'
import { type EnrichOptions, layoutOf, makePlan, type Plan } from '../../src/enrich/formats/formats.ts'
import type { Sample } from '../../src/enrich/reading/sample.ts'
import { headBlock, Splitter } from '../../src/enrich/reading/splitter.ts'
import { type ChunkHeaders, RowStream } from '../../src/enrich/row-stream.ts'
import { makeRowPlan, type RowOptions, RowWriter } from '../../src/enrich/row-writer.ts'
import { enrich } from '../../src/enrich.ts'
import { DatabaseSet } from '../../src/location/database-set.ts'
import { Database } from '../../src/mmdb/database.ts'
import { double, float, MmdbWriter } from '../../src/writer.ts'
import { ASN_DATABASE } from '../http/service.ts'
import { counted } from './counted.ts'

const UK = { en: 'United Kingdom', de: 'Vereinigtes Königreich' }
const SWEDEN = { en: 'Sweden', de: 'Schweden' }

/** A small database: whole and partial records, and text that CSV and JSON have to escape. */
export const WORLD = new MmdbWriter({ databaseType: 'Sample-City', languages: ['en', 'de'] })
  .insert('81.2.69.0/24', {
    country: { iso_code: 'GB', names: UK },
    subdivisions: [{ iso_code: 'ENG', names: { en: 'England' } }],
    city: { names: { en: 'London' } },
    postal: { code: 'EC1A' },
    location: { latitude: 51.5142, longitude: -0.0931, time_zone: 'Europe/London' },
  })
  .insert('89.160.20.0/24', {
    country: { iso_code: 'SE', names: SWEDEN },
    city: { names: { en: 'Linköping, "Östra"\tStaden', de: 'Linköping "de"' } },
    location: { latitude: 58.4167, longitude: 15.6167, time_zone: 'Europe/Stockholm' },
  })
  .insert('216.160.83.0/24', {
    country: { iso_code: 'US', names: { en: 'United States' } },
    subdivisions: [{ iso_code: 'WA', names: { en: 'Washington' } }],
    city: { names: { en: '=HYPERLINK("x")' } },
    postal: { code: '01234' },
    location: { latitude: 47.2513, longitude: -122.3149, time_zone: 'America/Los_Angeles' },
  })
  .insert('202.196.224.0/24', {
    country: { iso_code: 'PH', names: { en: 'Philippines' } },
    location: { latitude: float(13), longitude: double(122) },
  })
  .insert('1.128.0.0/16', {
    country: { iso_code: 'IN', names: { en: 'India' } },
    subdivisions: [{ iso_code: 'DL', names: { en: 'Region "DL"' } }],
    city: { names: { en: 'नई दिल्ली' } },
    location: { latitude: float(28.6), longitude: double(77.2), time_zone: 'Asia/Kolkata' },
  })
  .insert('2001:4860::/32', { country: { iso_code: 'US' } })
  .toBytes()

/** It, with autonomous systems. */
export const worldSet = (): DatabaseSet =>
  new DatabaseSet([new Database(WORLD), new Database(ASN_DATABASE)], { asnCount: 1 })
export const openWorld = (): Promise<Resolver> => Resolver.open(WORLD, { asn: ASN_DATABASE })

/** Addresses that have a location in it, in several spellings. */
export const PLACED = [
  ...'81.2.69.142 81.2.69.7 89.160.20.112 216.160.83.56 202.196.224.1 1.128.3.4'.split(' '),
  ...'2001:4860:4860::8888 2001:4860:0:0:0:0:0:AB ::ffff:81.2.69.160 2002:5102:458e::1'.split(' '),
]
/** Others, with why they have none. */
export const UNPLACED: Readonly<Record<string, string>> = {
  '10.1.2.3': 'private',
  '127.0.0.1': 'loopback',
  '192.0.2.1': 'documentation',
  'fe80::1': 'link-local',
  '8.8.8.8': 'not-found',
  '2a00::1': 'not-found',
  'example.org': 'malformed',
  '081.2.69.142': 'malformed',
  '81.2.69.142 ': 'malformed',
  '-': 'missing',
  '': 'missing',
}

/** Summer in the northern half, so that daylight saving shows in offsets. */
export const AT = Date.UTC(2026, 6, 1, 12)

const encoder = new TextEncoder()
export const utf8 = (text: string): Uint8Array => encoder.encode(text)

export const wholeSample = (input: string | Uint8Array): Sample => ({
  bytes: typeof input === 'string' ? utf8(input) : input,
  isWhole: true,
})
export const text = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
/** What is written into a sink. */
export function written(write: (out: ByteSink) => void): string {
  const out = new ByteSink()
  write(out)
  return text(out.take())
}

/** Bytes of a text whose characters are bytes. */
export const bytesOf = (text: string): Uint8Array =>
  Uint8Array.from(text, (character) => character.charCodeAt(0))
/** Bytes as a text of as many characters, which can be cut and joined without a thought. */
export const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')

export interface Run {
  readonly output: Uint8Array
  readonly counts: Counts
  /** The groups of each query of the plan. */
  readonly groups: readonly GroupTotals[]
  readonly plan: Plan
  readonly notes: readonly string[]
}

interface Way {
  /** Sizes of the chunks that the input comes in, over and over; 0 is all at once. */
  readonly cuts?: readonly number[]
  readonly blockBytes?: number
  readonly set?: DatabaseSet
  /** Whether usual lines take the loop of the format. */
  readonly usesLoop?: boolean
  /** Called after each chunk with the number of bytes that wait for more. */
  readonly watch?: (held: number) => void
}

/** Enriches a whole input with one enricher. */
export function run(input: Uint8Array | string, options: EnrichOptions = {}, way: Way = {}): Run {
  const bytes = typeof input === 'string' ? utf8(input) : input
  const { plan, notes } = makePlan(wholeSample(bytes), { at: AT, ...options })
  return { ...runPlan(plan, bytes, way), plan, notes }
}

/** {@link run} with a plan. */
export function runPlan(
  plan: Plan,
  bytes: Uint8Array,
  { cuts = [0], blockBytes = 4096, set = worldSet(), usesLoop = true, watch = () => {} }: Way,
): Omit<Run, 'plan' | 'notes'> {
  const enricher = new BlockEnricher(structuredClone(plan), set, undefined, usesLoop)
  const splitter = new Splitter(layoutOf(plan), blockBytes)
  const outputs: Uint8Array[] = []
  const counts = emptyCounts()
  const head = headBlock(bytes, layoutOf(plan))
  let held = head.bytes.length
  let linesBefore = 0
  const take = (blocks: ReturnType<Splitter['push']>): void => {
    for (const block of blocks) {
      held -= block.bytes.length
      for (const enriched of enricher.pieces(block)) {
        outputs.push(enriched.output)
        mergeCounts(counts, structuredClone(enriched.counts), linesBefore)
        linesBefore += enriched.lines
      }
    }
  }
  try {
    take([head])
    for (const chunk of chunked(bytes.subarray(head.bytes.length), cuts)) {
      held += chunk.length
      take(splitter.push(chunk))
      watch(held)
    }
    take(splitter.end())
  } catch (error) {
    throw error instanceof BadLineError ? new BadLineError(error.line + linesBefore, error.fault) : error
  }
  return { output: concatenated(outputs), ...counted(plan, counts, enricher) }
}

/** The same in chunks, without an instant for lines that have no time. */
export function enrichBytes(input: Uint8Array, options: EnrichOptions, blockBytes = 196_608): Run {
  const cuts = [Math.max(1, Math.floor(blockBytes / 3))]
  return run(input, { at: undefined, ...options }, { cuts, blockBytes })
}

/** The same of a text, with the output as text. */
export function located(input: string, options: EnrichOptions = {}, blockBytes?: number) {
  const run = enrichBytes(utf8(input), options, blockBytes)
  return { ...run, output: text(run.output) }
}

export const enrichText = (input: string, options: EnrichOptions): string => located(input, options).output

/** The objects of an output of NDJSON. */
export const objectsIn = (output: Uint8Array | string): Readonly<Record<string, unknown>>[] =>
  (typeof output === 'string' ? output : new TextDecoder('utf-8', { fatal: true }).decode(output))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

/** The text that a call gives, or the message of its error. */
export function textOrMessage(make: () => string): string {
  try {
    return make()
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
}

/** Enriches rows, given in chunks of some size. */
export function enrichRows(
  rows: Uint8Array,
  options: RowOptions,
  chunkBytes = 65_536,
  headers: ChunkHeaders = { read: false, write: false },
): Uint8Array {
  const stream = new RowStream(new RowWriter(makeRowPlan(options), worldSet()), headers)
  const pieces = [...chunked(rows, [chunkBytes])].flatMap((chunk) => [...stream.push(chunk)])
  return concatenated([...pieces, ...stream.end()])
}

export function* chunked(bytes: Uint8Array, cuts: readonly number[]): Generator<Uint8Array> {
  for (let start = 0, index = 0; start < bytes.length; index++) {
    const size = cuts[index % cuts.length] || bytes.length
    yield bytes.slice(start, start + size)
    start += size
  }
}

export function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** What `enrich` of the library writes for an input in one chunk. */
export async function outputOf(input: string, options: EnrichOptions = {}): Promise<string> {
  async function* chunks() {
    yield utf8(input)
  }
  let output = ''
  for await (const chunk of enrich(chunks(), { resolver: await openWorld(), ...options }).output)
    output += text(chunk)
  return output
}
