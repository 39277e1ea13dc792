// Damaged and hostile databases, each with the stage at which it must fail, as in maxminddb-golang.
import { describe, expect, it } from 'vitest'
import { parseCidr } from '../../src/address/ip-text.ts'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { Database } from '../../src/mmdb/database.ts'
import { FieldReader } from '../../src/mmdb/field-reader.ts'
import { countNetworks, firstRecords } from '../../src/mmdb/networks.ts'
import { NO_RECORD } from '../../src/mmdb/search-tree.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { effort, sampled } from '../effort.ts'
import { OWN_BAD_DATABASES, OWN_ODD_DATABASES } from '../own-databases.ts'
import { processorMs } from '../processor-time.ts'
import { hasShared, sharedBytes } from '../shared.ts'
import { ask } from './questions.ts'

type Stage = 'open' | 'lookup' | 'answers'

const IPV4 = [
  '0.0.0.0',
  '1.1.1.1',
  '1.1.1.16',
  '1.1.1.32',
  '81.2.69.142',
  '127.255.255.255',
  '128.0.0.0',
  '255.255.255.255',
]
const IPV6 = ['::', '::1.1.1.32', '1::', '2001:db8::1', '8000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff']

const PATHS = {
  code: ['country', 'iso_code'],
  names: ['country', 'names'],
  first: ['list', 0, 'a'],
  text: ['text'],
} as const

/** Uses everything that a database offers. Any error but InvalidDatabaseError fails the test. */
function stageOf(open: () => Database): { stage: Stage; messages: string[] } {
  const messages: string[] = []
  const attempt = (action: () => unknown): boolean => {
    try {
      action()
      return true
    } catch (error) {
      if (!(error instanceof InvalidDatabaseError)) throw error
      messages.push(error.message)
      return false
    }
  }
  let database: Database | undefined
  attempt(() => {
    database = open()
  })
  if (database === undefined) return { stage: 'open', messages }
  const opened = database
  const fields = new FieldReader(opened.data, PATHS)
  let answered = true
  for (const address of [...IPV4, ...IPV6]) {
    if (!attempt(() => ask(opened, address))) answered = false
    const { words, family } = parseCidr(`${address}/${address.includes(':') ? 128 : 32}`)
    attempt(() => {
      const offset = family === 4 ? opened.tree.findIPv4(words[0] ?? 0) : opened.tree.findIPv6(words)
      if (offset === NO_RECORD) return
      fields.read(offset)
      for (const name of ['code', 'names', 'first', 'text'] as const) {
        fields.text(name)
        fields.number(name)
        fields.texts(name)
      }
    })
  }
  attempt(() => countNetworks(opened))
  attempt(() => [...firstRecords(opened, 100)])
  return { stage: answered ? 'answers' : 'lookup', messages }
}

describe('our bad databases', () => {
  const files = { ...OWN_BAD_DATABASES, ...OWN_ODD_DATABASES }

  it.each<[string, Stage, string]>([
    ['a pointer outside the data section', 'lookup', 'a field is outside its section'],
    ['a tree that leads into the separator', 'lookup', 'the search tree leads to 2, which is not a record'],
    ['a tree that leads to the separator, on its right', 'lookup', 'leads to 3, which is not a record'],
    ['a tree that leads to itself', 'lookup', 'the search tree leads to 0, which is not a record'],
    ['metadata that points to itself', 'open', 'pointer'],
    ['a map of metadata whose size is not there', 'open', 'a field is larger than the rest'],
    ['bytes longer than the file', 'open', 'a field is larger than the rest'],
    ['a text longer than the file', 'open', 'a field is larger than the rest'],
    ['only the marker', 'open', 'a field is outside its section'],
    ['metadata that is a number', 'open', 'the metadata is not a map'],
    ['an array of a record larger than the file', 'lookup', 'a field is larger than the rest'],
    ['a record nested 512 levels deep', 'lookup', 'a record is nested deeper than 128 levels'],
    ['an empty map last in the metadata', 'answers', ''],
    ['the largest build time', 'answers', ''],
  ])('%s: %s', (name, stage, message) => {
    const outcome = stageOf(() => new Database(files[name]?.() ?? new Uint8Array(0)))
    expect(outcome.stage).toBe(stage)
    expect(outcome.messages.join('\n')).toContain(message)
  })

  it('has no date for the largest build time', () => {
    const bytes = OWN_ODD_DATABASES['the largest build time']?.() ?? new Uint8Array(0)
    expect(new Database(bytes).metadata.buildDate).toBeNull()
  })
})

describe.skipIf(!hasShared)('the bad databases of the format’s authors', () => {
  it.each<[string, Stage, string]>([
    ['mmdb/MaxMind-DB-test-broken-pointers-24', 'lookup', 'a field is outside its section'],
    [
      'mmdb/MaxMind-DB-test-broken-search-tree-24',
      'lookup',
      'the search tree leads to 0, which is not a record',
    ],
    ['mmdb-bad/cyclic-data-structure', 'open', 'a field is larger than the rest'], // found in its metadata
    ['mmdb-bad/invalid-bytes-length', 'open', 'a field is larger than the rest'],
    ['mmdb-bad/invalid-string-length', 'open', 'a field is cut short'],
    ['mmdb-bad/libmaxminddb-corrupt-search-tree', 'answers', ''],
    ['mmdb-bad/libmaxminddb-deep-nesting', 'lookup', 'a record is nested deeper than 128 levels'],
    ['mmdb-bad/libmaxminddb-empty-map-last-in-metadata', 'answers', ''],
    ['mmdb-bad/libmaxminddb-metadata-marker-only', 'open', 'a field is outside its section'],
    ['mmdb-bad/libmaxminddb-oversized-array', 'lookup', 'a field is larger than the rest'],
    [
      'mmdb-bad/libmaxminddb-separator-record-min-left',
      'lookup',
      'the search tree leads to 2, which is not a record',
    ],
    ['mmdb-bad/libmaxminddb-uint64-max-epoch', 'answers', ''], // valid, except that its build time is not a possible date
    ['mmdb-bad/metadata-is-an-uint128', 'open', 'a field is larger than the rest'],
  ])('%s: %s', (name, stage, message) => {
    const bytes = sharedBytes(`fixtures/${name}.mmdb`)
    const before = process.memoryUsage().arrayBuffers
    let outcome: ReturnType<typeof stageOf> | undefined
    const taken = processorMs(() => {
      outcome = stageOf(() => new Database(bytes))
    })
    expect(taken).toBeLessThan(2000)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000)
    expect(outcome?.stage).toBe(stage)
    expect(outcome?.messages.join('\n')).toContain(message)
  })
})

/** Small, with a value of every type, so that damage is found soon. */
function sample(ipVersion: 4 | 6): Uint8Array {
  const names = { en: 'United Kingdom', de: 'Vereinigtes Königreich' }
  return new MmdbWriter({
    databaseType: 'Test',
    ipVersion,
    recordSize: ipVersion === 4 ? 28 : 24,
    languages: ['en'],
    aliases: false,
  })
    .insert('0.0.0.0/2', {
      country: { iso_code: 'GB', names },
      list: [{ a: 1 }],
      n: 1.5,
      big: 2n ** 70n,
      yes: true,
    })
    .insert('64.0.0.0/2', {
      country: { iso_code: 'FR', names },
      text: 'a text of more than twenty-four bytes',
    })
    .insert('128.0.0.0/1', { country: { iso_code: 'DE' }, bytes: Uint8Array.of(1, 2), minus: -1 })
    .toBytes()
}

describe.each([4, 6] as const)('a well-formed database of IPv%i', (ipVersion) => {
  const good = sample(ipVersion)

  it('answers before it is damaged', () => {
    expect(stageOf(() => new Database(good))).toEqual({ stage: 'answers', messages: [] })
  })

  it('fails only with InvalidDatabaseError if any byte is wrong', () => {
    const stages = { open: 0, lookup: 0, answers: 0 }
    for (const at of sampled([...good.keys()], 150)) {
      for (const value of [
        0x00,
        0xff,
        (good[at] ?? 0) ^ 0x01,
        (good[at] ?? 0) ^ 0x20,
        (good[at] ?? 0) ^ 0x80,
      ]) {
        const damaged = good.slice()
        damaged[at] = value
        stages[stageOf(() => new Database(damaged)).stage]++
      }
    }
    // Check that every stage is reached.
    expect(Math.min(...Object.values(stages))).toBeGreaterThan(effort({ short: 10, long: 20 }))
  })

  it('fails only with InvalidDatabaseError if it is cut anywhere', () => {
    for (const length of sampled([...good.keys()], 150)) {
      expect(stageOf(() => new Database(good.subarray(0, length))).stage).toBe('open')
      // If cut at the front, the tree does not match the metadata.
      stageOf(() => new Database(good.subarray(length)))
    }
  })

  it('fails only with InvalidDatabaseError if many bytes are wrong', () => {
    // A linear congruential generator, so that failures are reproducible.
    let state = 2026 + ipVersion
    const next = (below: number): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((state / 2 ** 32) * below)
    }
    for (let round = 0; round < effort({ short: 300, long: 3000 }); round++) {
      const damaged = good.slice()
      for (let count = 1 + next(8); count > 0; count--) damaged[next(good.length)] = next(256)
      stageOf(() => new Database(damaged))
    }
  })
})
