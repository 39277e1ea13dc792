import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { isIPv4, isIPv6 } from 'node:net'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { EnrichOptions } from '../../../src/enrich/formats/formats.ts'
import { createRowEnricher } from '../../../src/enrich.ts'
import { effort, sampled } from '../../effort.ts'
import { SHARED } from '../../shared.ts'
import { CASES, golden, ROWS } from '../golden/cases.ts'
import { AT, concatenated, enrichBytes, enrichRows, openWorld, utf8 } from '../world.ts'

const MASKS: readonly Pick<EnrichOptions, 'mask' | 'dropAddress' | 'pseudonymKey'>[] = [
  { mask: [24, 48] },
  { dropAddress: true },
  { pseudonymKey: new Uint8Array(32).fill(1) },
]

/** All texts of addresses, by Node's parser. What a mask of 24 and 48 bits keeps is none of them. */
function addressesIn(bytes: Uint8Array): Set<string> {
  const text = new TextDecoder('latin1')
    .decode(bytes)
    .replace(/\\u00(..)|%([0-9a-f]{2})/gi, (_, one, two) =>
      String.fromCharCode(Number.parseInt(one ?? two, 16)),
    )
  const quads = text.match(/(?<![\d.])\d+\.\d+\.\d+\.\d+(?![\d.]*\d)/g) ?? []
  const words = text.match(/(?<![\w:.])[0-9a-f:.]*:[0-9a-f:.]*(?![\w:.])/gi) ?? []
  return new Set([
    ...quads.filter((each) => isIPv4(each) && !each.endsWith('.0')),
    ...words.filter((each) => isIPv6(each) && !each.endsWith('::')),
  ])
}

const linesOf = (bytes: Uint8Array): number => bytes.filter((byte) => byte === 0x0a).length

describe.each(MASKS)('with %j', (mask) => {
  it.each(sampled(CASES, 14))('%s with %j has no address, and all its lines', (input, options) => {
    const bytes = golden(input)
    const plain = enrichBytes(bytes, { at: AT, ...options })
    for (const blockBytes of [1_048_576, 100]) {
      const { output, counts } = enrichBytes(bytes, { at: AT, ...options, ...mask }, blockBytes)
      expect(addressesIn(bytes).size).toBeGreaterThan(0)
      expect([...addressesIn(output)]).toEqual([])
      expect(linesOf(output)).toBe(linesOf(plain.output))
      // Locations are those of whole addresses.
      expect(counts).toEqual(plain.counts)
    }
  })

  it.each(sampled(ROWS, 8))('%s with %j has no address, and all its rows', async (input, options) => {
    const rows = golden(input)
    for (const chunkBytes of [1_048_576, 7]) {
      const output = enrichRows(rows, { at: AT, ...options, ...mask }, chunkBytes)
      expect([...addressesIn(output)]).toEqual([])
      expect(linesOf(output)).toBe(linesOf(rows))
    }
    const rowsOf = createRowEnricher({ resolver: await openWorld(), at: AT, ...options, ...mask })
    expect([...addressesIn(concatenated(rowsOf(rows)))]).toEqual([])
  })

  it('has no address where a line or a row is too long', () => {
    const lines = Array.from({ length: 50 }, (_, index) => `81.2.69.142 2001:db8:1:2::7 ${'x'.repeat(index)}`)
    const text = `81.2.69.142\n${lines.join(' 89.160.20.112 ')}\n81.2.69.142\n`
    for (const onBadLine of ['raw', 'keep'] as const) {
      for (const append of [false, true]) {
        for (let maxLineBytes = 40; maxLineBytes < 60; maxLineBytes += effort({ short: 3, long: 1 })) {
          const options = { format: 'list', at: AT, onBadLine, append, maxLineBytes, ...mask } as const
          const { output, counts } = enrichBytes(utf8(text), options, maxLineBytes)
          expect(counts).toMatchObject({ bad: 1, resolved: 2 })
          expect([...addressesIn(output)]).toEqual([])
          expect(linesOf(output)).toBe(3)
          const rows = enrichRows(utf8(text), options, maxLineBytes)
          expect([...addressesIn(rows)]).toEqual([])
          expect(linesOf(rows)).toBe(3)
        }
      }
    }
  })
})

const logs = join(SHARED, 'logs')

describe.skipIf(!existsSync(logs))('real logs of ../shared/logs', () => {
  const names = existsSync(logs) ? readdirSync(logs).filter((name) => !name.endsWith('.md')) : []
  it.each(names)('%s has no address of its own', (name) => {
    const file = readFileSync(join(logs, name))
    const bytes = new Uint8Array(name.endsWith('.gz') ? gunzipSync(file) : file)
    // All logs but one name addresses.
    expect(addressesIn(bytes).size === 0).toBe(name === 'journald.json')
    for (const mask of MASKS) {
      const { output } = enrichBytes(bytes, { at: AT, force: true, ...mask })
      expect(output.length).toBeGreaterThan(0)
      expect([...addressesIn(output)]).toEqual([])
    }
  })
})
