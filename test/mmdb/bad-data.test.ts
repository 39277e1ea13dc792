// Damaged and hostile databases, each with the stage at which it must fail, as in maxminddb-golang. Those of the format's authors
// are tried in hostile/bombs.long.test.ts, and damage anywhere in hostile/mutations.test.ts.
import { describe, expect, it } from 'vitest'
import { parseCidr } from '../../src/address/ip-text.ts'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { Database } from '../../src/mmdb/database.ts'
import { FieldReader } from '../../src/mmdb/field-reader.ts'
import { countNetworks, firstRecords } from '../../src/mmdb/networks.ts'
import { NO_RECORD } from '../../src/mmdb/search-tree.ts'
import { OWN_BAD_DATABASES, OWN_ODD_DATABASES } from '../own-databases.ts'
import { ask } from './questions.ts'

type Stage = 'open' | 'lookup' | 'answers'

const IPV4 = [
  ...'0.0.0.0 1.1.1.1 1.1.1.16 1.1.1.32 81.2.69.142 127.255.255.255 128.0.0.0'.split(' '),
  ...'255.255.255.255'.split(' '),
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
        const map = fields.mapOffset(name)
        if (map !== null) fields.textsAt(map)
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
