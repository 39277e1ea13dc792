import { Resolver } from '../../src/core.ts'
import { BlockEnricher } from '../../src/enrich/block-enricher.ts'
import { type Counts, emptyCounts, mergeCounts } from '../../src/enrich/counting/counts.ts'
import { type EnrichOptions, layoutOf, makePlan, type Plan } from '../../src/enrich/formats/formats.ts'
import { type Block, Splitter } from '../../src/enrich/reading/splitter.ts'
import { type ChunkHeaders, RowStream } from '../../src/enrich/row-stream.ts'
import { makeRowPlan, type RowOptions, RowWriter } from '../../src/enrich/row-writer.ts'
import { DatabaseSet } from '../../src/location/database-set.ts'
import { Database } from '../../src/mmdb/database.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { counted } from './counted.ts'

/** A small database: whole and partial records, and text that CSV and JSON have to escape. */
export function smallDatabase(): Uint8Array {
  return new MmdbWriter({ databaseType: 'Small-City', languages: ['en', 'de'] })
    .insert('81.2.69.0/24', {
      country: { iso_code: 'GB', names: { en: 'United Kingdom', de: 'Vereinigtes Königreich' } },
      subdivisions: [{ iso_code: 'ENG', names: { en: 'England' } }],
      city: { names: { en: 'London' } },
      postal: { code: 'EC1A' },
      location: { latitude: 51.5142, longitude: -0.0931, time_zone: 'Europe/London' },
    })
    .insert('89.160.20.0/24', {
      country: { iso_code: 'SE', names: { en: 'Sweden', de: 'Schweden' } },
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
    .insert('2001:4860::/32', { country: { iso_code: 'US' } })
    .toBytes()
}

/** Addresses that the small database has a location for. */
export const LOCATED = [
  '81.2.69.142',
  '81.2.69.1',
  '89.160.20.112',
  '216.160.83.56',
  '2001:4860:4860::8888',
  '2001:4860:0:0:0:0:0:1',
  '::ffff:81.2.69.142',
]
/** Texts that have none: an address without a record, special-purpose ones, no addresses. */
export const NOT_LOCATED = [
  '9.9.9.9',
  '10.0.0.1',
  '127.0.0.1',
  '::1',
  '2a00::1',
  'unknown',
  '81.2.69.256',
  '-',
  '',
]

const bytes = smallDatabase()
export const smallResolver = (): Promise<Resolver> => Resolver.open(bytes)

export interface Run {
  readonly output: Uint8Array
  readonly counts: Counts
  readonly plan: Plan
  readonly notes: readonly string[]
}

/** Enriches a whole input, given in chunks and cut into blocks of some size, by the small database. */
export function enrichBytes(input: Uint8Array, options: EnrichOptions, blockBytes?: number): Run {
  const { plan, notes } = makePlan(input, true, options)
  const enricher = new BlockEnricher(plan, new DatabaseSet([new Database(bytes)]))
  const splitter = new Splitter(layoutOf(plan), blockBytes)
  const pieces: Uint8Array[] = []
  const counts = emptyCounts()
  let linesBefore = 0
  const take = (blocks: readonly Block[]): void => {
    for (const block of blocks) {
      for (const enriched of enricher.pieces(block)) {
        pieces.push(enriched.output)
        mergeCounts(counts, enriched.counts, linesBefore)
        linesBefore += enriched.lines
      }
    }
  }
  const chunkBytes = Math.max(1, Math.floor((blockBytes ?? 65_536) / 3))
  for (let at = 0; at < input.length; at += chunkBytes)
    take(splitter.push(input.subarray(at, at + chunkBytes)))
  take(splitter.end())
  return { output: joined(pieces), counts: counted(plan, counts, enricher).counts, plan, notes }
}

/** Enriches rows, given in chunks of some size, by the small database. */
export function enrichRows(
  rows: Uint8Array,
  options: RowOptions,
  chunkBytes = 65_536,
  headers: ChunkHeaders = { read: false, write: false },
): Uint8Array {
  const enricher = new RowWriter(makeRowPlan(options), new DatabaseSet([new Database(bytes)]))
  const stream = new RowStream(enricher, headers)
  const pieces: Uint8Array[] = []
  for (let at = 0; at < rows.length; at += chunkBytes) {
    pieces.push(...stream.push(rows.subarray(at, at + chunkBytes)))
  }
  pieces.push(...stream.end())
  return joined(pieces)
}

/** The same of texts. */
export function enrichText(input: string, options: EnrichOptions): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(enrichBytes(utf8(input), options).output)
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** Bytes of a text whose characters are bytes. */
export function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}

export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
