import { describe, expect, it } from 'vitest'
import { EnrichError } from '../../../src/enrich/errors.ts'
import { looksLikeNdjson, planNdjson } from '../../../src/enrich/ndjson/plan.ts'
import type { EnrichOptions } from '../../../src/enrich/options.ts'
import { utf8 } from '../world.ts'

const plan = (lines: readonly unknown[], options: EnrichOptions = {}) => {
  const { plan: made, notes } = planNdjson(
    utf8(lines.map((line) => JSON.stringify(line)).join('\n')),
    true,
    options,
  )
  return { path: made.path, timePath: made.timePath, notes }
}

describe('the field of the address', () => {
  it.each([
    ['ip', { ip: '81.2.69.142' }, ['ip']],
    ['clientIp', { clientIp: '81.2.69.142' }, ['clientIp']],
    ['client_ip over host', { host: '10.0.0.1', client_ip: '81.2.69.142' }, ['client_ip']],
    ['remote_addr', { server_addr: '10.0.0.1', remote_addr: '::1' }, ['remote_addr']],
    [
      'client.ip, not server.ip',
      { server: { ip: '10.0.0.1' }, client: { ip: '81.2.69.142' } },
      ['client', 'ip'],
    ],
    [
      'source.ip',
      { source: { ip: '81.2.69.142', port: 80 }, destination: { ip: '10.0.0.1' } },
      ['source', 'ip'],
    ],
    [
      'remoteAddr deep down',
      { req: { meta: { remoteAddr: '81.2.69.142' } }, x: '1.1.1.1' },
      ['req', 'meta', 'remoteAddr'],
    ],
    ['the only one with addresses', { who: '81.2.69.142', ip: 'none' }, ['who']],
    ['one with a name of its own', { 'client.ip': '81.2.69.142' }, ['client.ip']],
  ])('is guessed: %s', (_, line, path) => {
    expect(plan([line]).path).toEqual(path)
  })

  it('is told by what it holds, not by its name only, and said', () => {
    const lines = [
      { ip: 'internal', client_ip: '81.2.69.142', peer: { ip: '10.0.0.1' } },
      { ip: 'x', client_ip: '-' },
    ]
    expect(plan(lines)).toEqual({
      path: ['client_ip'],
      timePath: null,
      notes: ['the address is in client_ip (addresses are also in peer.ip)'],
    })
  })

  it.each([
    ['there are several without a usual name', [{ a: '81.2.69.142', b: '1.1.1.1' }], 'some are in a, b'],
    ['there is none', [{ a: 'x' }], 'none holds any'],
    ['there are only lists', [{ x_forwarded_for: '81.2.69.142, 10.0.0.1' }], 'none holds any'],
  ])('is not guessed where %s', (_, lines, message) => {
    expect(() => plan(lines)).toThrow(
      expect.objectContaining({ code: 'ENRICH_FIELD_UNKNOWN', message: expect.stringContaining(message) }),
    )
  })

  it.each([
    ['client.ip', { client: { ip: 'x' } }, ['client', 'ip']],
    ['/client/ip', { client: { ip: 'x' } }, ['client', 'ip']],
    ['client.ip', { 'client.ip': 'x' }, ['client.ip']],
    ['/client.ip', { 'client.ip': 'x' }, ['client.ip']],
    ['/a~1b/~0', { 'a/b': { '~': 'x' } }, ['a/b', '~']],
    ['ips.1', { ips: ['x', 'y'] }, ['ips', '1']],
    ['/ips/0', { ips: ['x'] }, ['ips', '0']],
  ])('is taken by its path: %s', (field, line, path) => {
    expect(plan([line], { field })).toEqual({ path, timePath: null, notes: [] })
  })

  it('is an error where it is nowhere, with those that are', () => {
    expect(() => plan([{ ip: '81.2.69.142' }], { field: 'client.ip' })).toThrow(
      'none of the first 1 objects has "client.ip"; addresses are in ip',
    )
    expect(() => plan([{ ip: '81.2.69.142' }], { timeField: 'ts' })).toThrow(
      'none of the first 1 objects has "ts"',
    )
  })

  it.each([['', '/', '/a~2', '~'].slice(0, 3)].flat())('is a TypeError as %j', (field) => {
    expect(() => plan([{ ip: '81.2.69.142' }], { field })).toThrow(TypeError)
  })

  it.each([
    ['xff', { xff: '81.2.69.142, 10.0.0.1' }],
    ['a.b.c.d.e.f', { a: { b: { c: { d: { e: { f: '81.2.69.142, 10.0.0.1' } } } } } }],
    ['hops.1', { hops: ['-', '81.2.69.142, 10.0.0.1'] }],
    ['k'.repeat(300), { ['k'.repeat(300)]: '81.2.69.142, 10.0.0.1' }],
  ])('is an error where it holds lists and nobody is trusted: %s', (field, line) => {
    expect(() => plan([line], { field })).toThrow(expect.objectContaining({ code: 'ENRICH_FIELD_IS_LIST' }))
    expect(plan([line], { field, trustedProxies: ['10.0.0.1'] }).path.length).toBeGreaterThan(0)
  })

  it('is not looked for in an input without lines', () => {
    expect(plan([]).path).toEqual(['ip'])
  })
})

describe('names of members in what is said', () => {
  /** What a terminal obeys, text turned round, a line of its own, and more than is shown. */
  const hostile = `\x1b]0;x\x07\x9b31m\u202e\nforged ${'k'.repeat(200)}`
  const shown = /"\\u001b\]0;x\\u0007\\u009b31m\\u202e\\nforged k{30,}"\.\.\./
  const others = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`${index}${hostile}`, '1.1.1.1']),
  )
  const message = (line: object, options: EnrichOptions = {}) => {
    try {
      return plan([line], options).notes.join(' ')
    } catch (error) {
      return error instanceof EnrichError ? error.message : ''
    }
  }

  it.each([
    ['where the address is', { [hostile]: '1.1.1.1' }, {}, 'the address is in "'],
    ['where others are', { ip: '1.1.1.1', ...others, [hostile]: '1.1.1.1' }, {}, 'also in "'],
    ['which there are without a usual name', { ...others, [hostile]: '1.1.1.1' }, {}, 'some are in "'],
    ['which there are beside the one that is not', { [hostile]: '1.1.1.1' }, { field: 'x' }, 'are in "'],
    ['what holds a list', { [hostile]: '1.1.1.1, 2.2.2.2' }, { field: hostile }, ' holds lists'],
    [
      'what holds a long list',
      { ['k'.repeat(200_000)]: '1.1.1.1,' },
      { field: 'k'.repeat(200_000) },
      ' holds',
    ],
  ])('are quoted in printable ASCII and cut: %s', (_, line, options, words) => {
    const said = message(line, options)
    expect(said).toContain(words)
    expect(said).toMatch(/^[\x20-\x7e]{50,1500}$/)
  })

  it('are readable', () => expect(message({ [hostile]: '1.1.1.1' })).toMatch(shown))
})

describe('NDJSON', () => {
  it.each([
    ['{"a":1}\n{"b":2}\n', true],
    ['{"a":1}', true],
    ['\ufeff{"a":1}\n', true],
    ['\n\n{"a":1}\n', true],
    ['{"a":1}\nrubbish\n{"b":2}\n', true],
    [`{"a":"${'x'.repeat(100)}`, true],
    ['{}', true],
    ['rubbish\n{"a":1}\nrubbish\n', false],
    ['{\n  "a": 1\n}\n', false],
    ['[{"a":1}]', false],
    ['1\n2\n', false],
    ['', false],
  ])('%j: %s', (sample, expected) => {
    expect(looksLikeNdjson(utf8(sample))).toBe(expected)
  })
})
