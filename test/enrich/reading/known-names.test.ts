import { describe, expect, it } from 'vitest'
import { makePlan } from '../../../src/enrich/formats/formats.ts'
import { addressWeight, isListName, isOtherName, timeRank } from '../../../src/enrich/reading/known-names.ts'
import { tableOf } from '../../table-of.ts'
import { textOrMessage, wholeSample } from '../world.ts'

/**
 * The fields of products that hold addresses, and a few others, as the products document them. The client's comes first;
 * `?` before the name says that it must be named, because the product's name for it says too little.
 */
const PRODUCTS = tableOf(import.meta.dirname, 'known-products.tsv')

/** An address for each field. */
const addressOf = (index: number): string => `${81 + index}.2.69.142`

/** Values at dotted paths, as an object of objects. */
function nested(fields: readonly string[]): object {
  const object: Record<string, unknown> = {}
  for (const [index, field] of fields.entries()) {
    const names = field.split('.')
    let inner = object
    for (const name of names.slice(0, -1)) {
      const next: Record<string, unknown> = {}
      const old = inner[name]
      if (typeof old === 'object' && old !== null) Object.assign(next, old)
      inner[name] = next
      inner = next
    }
    inner[names.at(-1) ?? ''] = addressOf(index)
  }
  return object
}

const outcome = (input: string): string =>
  textOrMessage(() => makePlan(wholeSample(input), {}).notes.join('; '))

const escaped = (text: string): string => text.slice(0, 50).replace(/[$.]/g, '\\$&')

describe('the table of names, with the field lists of products', () => {
  it('has more than a hundred products', () => {
    expect(new Set(PRODUCTS.map(([product]) => product)).size).toBeGreaterThanOrEqual(100)
  })

  it.each(PRODUCTS)('finds the client of %s in %s', (_, list) => {
    const [first = '', ...others] = list.split(' ')
    const isRefused = first.startsWith('?')
    const client = first.replace('?', '')
    // The order of the fields decides nothing.
    for (const fields of [
      [client, ...others],
      [...others, client],
    ]) {
      const object = outcome(`${JSON.stringify(nested(fields))}\n`)
      const table = outcome(
        `n,${fields.join(',')}\nx,${fields.map((__, index) => addressOf(index)).join(',')}\n`,
      )
      for (const message of [object, table]) {
        if (isRefused) expect(message).toMatch(/addresses are in .*--field /)
        else expect(message).toMatch(new RegExp(`the address is in (column \\d+, )?"?${escaped(client)}`))
      }
    }
  })

  it.each(PRODUCTS)('takes no other field of %s if that of the client is empty: %s', (_, list) => {
    const [first = '', ...others] = list.split(' ')
    if (first.startsWith('?')) return
    const fields = [first, ...others]
    const values = fields.map((__, index) => (index === 0 ? '' : addressOf(index)))
    expect(outcome(`n,${fields.join(',')}\nx,${values.join(',')}\n`)).toMatch(
      new RegExp(`the address is in (column \\d+, )?"?${escaped(first)}`),
    )
  })
})

describe('the name of a field', () => {
  it.each([
    ['client_ip', 'remote_addr'],
    ['remote_ip', 'remote_addr'],
    ['remote_addr', 'src_ip'],
    ['src_ip', 'ip'],
    ['ip', 'x_real_ip'],
  ])('%s is better than %s', (better, worse) => {
    expect(addressWeight([better], false)).toBeGreaterThan(addressWeight([worse], false))
  })

  it.each([['clientIp'], ['client-ip'], ['Client IP'], ['CLIENT_IP'], ['$client.ip']])(
    'is spelt in any way: %s',
    (name) => {
      expect(addressWeight([name], false)).toBe(addressWeight(['client_ip'], false))
    },
  )

  it.each([
    ['server', 'ip'],
    ['host', 'ip'],
    ['upstream', 'address'],
    ['dns', 'ip'],
    ['response', 'remote'],
    ['a', 'b'],
  ])('in %s says nothing: %s', (...path) => expect(addressWeight(path, false)).toBe(0))

  it('is that of a list only if proxies are trusted', () => {
    expect(addressWeight(['X-Forwarded-For'], false)).toBe(0)
    expect(addressWeight(['X-Forwarded-For'], true)).toBeGreaterThan(addressWeight(['client_ip'], true))
    expect(isListName(['headers', 'x-forwarded-for'])).toBe(true)
    expect(isListName(['ip'])).toBe(false)
  })

  it.each([
    ['ua_version', true],
    ['uaVersion', true],
    ['UAVERSION', true],
    ['serverIp', true],
    ['dns.answer', true],
    ['tags', true],
    ['who', false],
    ['visited_from', false],
    ['login', false],
    ['destiny', false],
  ])('%s says that it is something else: %s', (name, expected) => {
    expect(isOtherName([name])).toBe(expected)
  })

  it('of a time is ranked by its path', () => {
    expect(timeRank(['@timestamp'])).toBeLessThan(timeRank(['created']))
    expect(timeRank(['created'])).toBeLessThan(timeRank(['log', '@timestamp']))
    expect(timeRank(['@t'])).toBeLessThan(timeRank(['created']))
    const ofWindows = ['Event', 'System', 'TimeCreated', '#attributes', 'SystemTime']
    expect(timeRank(ofWindows)).toBeLessThan(Number.POSITIVE_INFINITY)
    expect(timeRank(['t', '$date'])).toBe(timeRank(['ts']))
    expect(timeRank(['created', '$date'])).toBe(timeRank(['created']))
    expect(timeRank(['x', '$date'])).toBe(Number.POSITIVE_INFINITY)
  })
})
