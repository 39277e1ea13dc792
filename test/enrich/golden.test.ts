import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { EnrichOptions } from '../../src/enrich/options.ts'
import { enrichBytes } from './in-memory-run.ts'

const AT = Date.UTC(2026, 6, 28)

/**
 * Inputs and what they become with the small database, byte by byte. Every line of the files was read before they
 * were kept: a difference is a fault or a decision, so that nothing here writes them anew.
 */
const CASES: readonly [input: string, options: EnrichOptions, expected: string][] = [
  ['combined.log', {}, 'combined.ndjson'],
  ['combined.log', { append: true }, 'combined.append.log'],
  ['combined.log', { onlyFailed: true, append: true }, 'combined.failed.log'],
  ['quoted.csv', { timeField: 'at', field: 'client ip' }, 'quoted.enriched.csv'],
  ['quoted.csv', { fields: ['city', 'country_name'], onBadLine: 'drop', locale: 'de' }, 'quoted.city.csv'],
  ['quoted.csv', { dropUnresolved: true, fields: ['country_code'] }, 'quoted.resolved.csv'],
  ['excel.csv', { overwrite: true, fields: ['city', 'latitude', 'country_name'] }, 'excel.enriched.csv'],
  ['search.tsv', { timeField: '1' }, 'search.enriched.tsv'],
  ['no-header.csv', { header: false, fields: ['timezone_offset', 'postal_code'] }, 'no-header.enriched.csv'],
  ['events.ndjson', { overwrite: true, field: 'client.ip' }, 'events.enriched.ndjson'],
  [
    'events.ndjson',
    { field: '/client/ip', timeField: 'ts', into: 'place', onBadLine: 'drop', locale: 'de' },
    'events.place.ndjson',
  ],
  ['events.ndjson', { overwrite: true, field: 'client.ip', onlyFailed: true }, 'events.failed.ndjson'],
  ['addresses.txt', {}, 'addresses.ndjson'],
  ['addresses.txt', { append: true }, 'addresses.append.txt'],
]

const golden = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(`./golden/${name}`, import.meta.url)))

describe('golden files', () => {
  it.each(CASES)('%s with %j is %s', (input, options, expected) => {
    for (const blockBytes of [1_048_576, 100]) {
      const { output } = enrichBytes(golden(input), { at: AT, ...options }, blockBytes)
      expect(new TextDecoder('latin1').decode(output)).toBe(
        new TextDecoder('latin1').decode(golden(expected)),
      )
    }
  })
})
