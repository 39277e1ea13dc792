import { describe, expect, it } from 'vitest'
import { EnrichError } from '../../src/enrich/errors.ts'
import type { EnrichOptions } from '../../src/enrich/options.ts'
import { makePlan } from '../../src/enrich/plan.ts'
import { InvalidLocaleError, isGeofixError } from '../../src/errors.ts'
import { AT, utf8 } from './world.ts'

const COMMON = '81.2.69.142 - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 12'

describe('the format', () => {
  it.each([
    ['ndjson', '{"ip":"81.2.69.142"}\n'],
    ['ndjson', '\ufeff{"ip":"81.2.69.142"}\r\n'],
    ['ndjson', '\n\n{"ip":"81.2.69.142"}'],
    ['csv', 'ip,user\n81.2.69.142,x\n'],
    ['csv', '"ip","user"\r\n"81.2.69.142","x\ny"\r\n'],
    ['tsv', 'ip\tuser\n81.2.69.142\tx\n'],
    ['access-log', `${COMMON}\n`],
    ['access-log', `${COMMON} "-" "curl/8.5.0"\n`],
    ['list', '81.2.69.142\n10.0.0.1\n'],
    ['list', '2001:4860:4860::8888'],
    ['list', ''],
  ])('is told by content: %s, %j', (format, sample) => {
    const { plan, notes } = makePlan(utf8(sample), true, { at: AT })
    expect(plan.format).toBe(format)
    expect(notes[0]).toBe(`the format is ${format}`)
    expect(structuredClone(plan)).toEqual(plan)
  })

  it('is not said where it was given', () => {
    expect(makePlan(utf8('{"ip":"81.2.69.142"}'), true, { format: 'ndjson' }).notes).toEqual([
      'the address is in ip',
    ])
    expect(makePlan(utf8('{"ip":"81.2.69.142"}'), true, { format: 'ndjson', field: 'ip' }).notes).toEqual([])
  })

  it.each([
    ['prose', 'Once upon a time\nthere was\nno address.\n', 'the first lines are none of ndjson, csv'],
    ['an array', '[{"ip":"81.2.69.142"}]', 'looks like a JSON array'],
    ['UTF-16', '', 'is UTF-16'],
    ['UTF-16 the other way round', '', 'is UTF-16'],
  ])('is an error when it is none: %s', (name, sample, message) => {
    const utf16 = Buffer.from([0xff, 0xfe, 0x7b, 0, 0x7d, 0, 0x0a, 0])
    const swapped = Buffer.from(utf16).swap16()
    const bytes = name === 'UTF-16' ? utf16 : name.startsWith('UTF-16') ? swapped : utf8(sample)
    let error: unknown
    try {
      makePlan(bytes, true, {})
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(EnrichError)
    expect(isGeofixError(error)).toBe(true)
    expect(error).toMatchObject({
      code: 'ENRICH_FORMAT_UNKNOWN',
      status: null,
      message: expect.stringContaining(message),
    })
  })
})

describe('options that are wrong', () => {
  const sample = utf8('{"ip":"81.2.69.142"}\n')
  const wrong: readonly [string, unknown][] = [
    ['a format of another tool', { format: 'xml' }],
    ['an empty name', { into: '' }],
    ['a name that is none', { into: 7 }],
    ['another word for bad lines', { onBadLine: 'skip' }],
    ['no room for a line', { maxLineBytes: 0 }],
    ['half a byte', { maxLineBytes: 10.5 }],
    ['all memory', { maxLineBytes: Number.POSITIVE_INFINITY }],
    ['no instant', { at: new Date('x') }],
    ['proxies that are no list', { trustedProxies: 'all' }],
    ['everybody trusted', { trustedProxies: ['0.0.0.0/0'] }],
    ['nothing left to write', { onlyFailed: true, dropUnresolved: true }],
  ]
  it.each(wrong)('are a TypeError: %s', (_, options) => {
    expect(() => makePlan(sample, true, options as EnrichOptions)).toThrow(TypeError)
  })

  it('are an InvalidLocaleError for the locale', () => {
    expect(() => makePlan(sample, true, { locale: 'not a tag' })).toThrow(InvalidLocaleError)
  })
})
