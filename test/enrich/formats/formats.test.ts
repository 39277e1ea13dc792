import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { EnrichError } from '../../../src/enrich/errors.ts'
import { FORMAT_DEFINITIONS } from '../../../src/enrich/formats/all-formats.ts'
import {
  definitionOf,
  type EnrichOptions,
  FORMATS,
  formatsWith,
  makePlan,
} from '../../../src/enrich/formats/formats.ts'
import { InvalidLocaleError } from '../../../src/errors.ts'
import { tarOf } from '../../bytes/tar-samples.ts'
import { AT, utf8, wholeSample } from '../world.ts'

describe('the formats', () => {
  it('have names of their own', () => {
    expect(FORMATS).toEqual(FORMAT_DEFINITIONS.map(({ name }) => name))
    expect(new Set(FORMATS).size).toBe(FORMATS.length)
  })

  it('are an error if the name is unknown', () => {
    expect(() => Reflect.apply(definitionOf, undefined, ['xml'])).toThrow(RangeError)
  })

  it('require only options for rows that they have, or that are for all formats', () => {
    for (const { name, requiredForRows } of FORMAT_DEFINITIONS) {
      const missing = requiredForRows.filter((option) => !formatsWith(option).includes(name))
      const isTable = name === 'csv' || name === 'tsv'
      expect(['at', ...(isTable ? ['quoting'] : [])]).toEqual(expect.arrayContaining(missing))
    }
  })
})

const COMMON = '81.2.69.142 - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 12'

describe('the format', () => {
  it.each([
    ['ndjson', '\ufeff{"ip":"81.2.69.142"}\r\n'],
    ['ndjson', '\n\n{"ip":"81.2.69.142"}'],
    ['csv', '"ip","user"\r\n"81.2.69.142","x\ny"\r\n'],
    ['access-log', `${COMMON} "-" "curl/8.5.0"\n`],
    ['list', '2001:4860:4860::8888'],
    ['list', ''],
    ['text', '[Wed Oct 11 14:32:52.1 2000] [core:error] [pid 1] [client 81.2.69.142:5] AH00126: x\n'],
    ['text', '[2026-07-01 12:00:00] 81.2.69.142 says hello\n'],
    [
      'access-log',
      `${`${COMMON}\n`.repeat(60)}{"log":"x","time":"2026-07-01T12:00:00Z","stream":"stdout"}\n`,
    ],
  ])('is detected from the content: %s, %j', (format, sample) => {
    const { plan, notes } = makePlan(wholeSample(sample), { at: AT })
    expect(plan.format).toBe(format)
    expect(notes[0]).toBe(sample === '' ? 'the input is empty' : `the format is ${format}`)
    expect(structuredClone(plan)).toEqual(plan)
  })

  it('is not in the notes if it was given', () => {
    expect(makePlan(wholeSample('{"ip":"81.2.69.142"}'), { format: 'ndjson' }).notes).toEqual([
      'the address is in ip',
    ])
    expect(makePlan(wholeSample('{"ip":"81.2.69.142"}'), { format: 'ndjson', field: 'ip' }).notes).toEqual([])
  })

  it.each([
    ['prose', 'Once upon a time\nthere was\nno address.\n', 'no format fits the lines'],
    ['JSON without an end', '{\n"ip":"81.2.69.142"\n', 'no whole object'],
  ])('is an error if it is unknown: %s', (_, sample, message) => {
    const error = { code: 'ENRICH_FORMAT_UNKNOWN', status: null, message: expect.stringContaining(message) }
    expect(() => makePlan(wholeSample(sample), {})).toThrow(expect.objectContaining(error))
    expect(() => makePlan(wholeSample(sample), {})).toThrow(EnrichError)
  })
})

describe('an input that is not lines of UTF-8', () => {
  const utf16 = Buffer.from('ip,a\n81.2.69.142,1\n', 'utf16le')
  const archive = tarOf({ 'access.log': utf8(`${COMMON}\n`) })
  const inputs: readonly [string, Uint8Array, RegExp][] = [
    ['UTF-16', utf16, /^the input is UTF-16LE: .* iconv -f UTF-16LE -t UTF-8 FILE/],
    ['UTF-16 the other way round', Buffer.from(utf16).swap16(), /^the input is UTF-16BE: /],
    ['a tar archive', archive, /^the input is a tar archive: .* tar -xf FILE/],
    ['compressed', gzipSync(COMMON), /^the input is compressed with gzip: .* gzip -dc FILE/],
    ['without line feeds', utf8('ip,a\r81.2.69.142,1\r'), /carriage returns alone: .* tr /],
  ]
  it.each(inputs)('is refused, whether or not its format is given: %s', (_, sample, message) => {
    for (const format of [undefined, ...FORMATS]) {
      expect(() => makePlan(wholeSample(sample), { format })).toThrow(
        expect.objectContaining({ code: 'ENRICH_INPUT_UNREADABLE', message: expect.stringMatching(message) }),
      )
    }
  })
})

describe('a JSON array', () => {
  it.each([
    '[{"ip":"81.2.69.142"}]',
    '[{"ip":"81.2.69.142","a":1},{"ip":"81.2.69.142","a":2}]\n',
    '\ufeff[\r\n  {\r\n    "ip": "81.2.69.142"\r\n  }\r\n]',
    ' [ {"ip":""} ]',
    '[]\n',
  ])('is %j', (sample) => {
    expect(makePlan(wholeSample(sample), {}).plan).toMatchObject({ format: 'json', array: [] })
  })

  it.each([
    '[Wed Oct 11 14:32:52.123456 2000] [core:error] [pid 1] AH00126: Invalid URI\n',
    '[2026-07-01 12:00:00] nobody says hello\n',
    '[{timestamp}] template\n',
    '[',
  ])('is not %j', (sample) => {
    expect(() => makePlan(wholeSample(sample), {})).toThrow(/^no format fits the lines/)
  })
})

describe('options that are wrong', () => {
  const sample = utf8('{"ip":"81.2.69.142"}\n')
  const wrong: readonly [string, unknown][] = [
    ['a format of another tool', { format: 'xml' }],
    ['no instant', { at: new Date('x') }],
    ['proxies that are not a list', { trustedProxies: 'all' }],
    ['everybody trusted', { trustedProxies: ['0.0.0.0/0'] }],
  ]
  it.each(wrong)('are a TypeError: %s', (_, options) => {
    expect(() => makePlan(wholeSample(sample), options as EnrichOptions)).toThrow(TypeError)
  })

  it('are an InvalidLocaleError for the locale', () => {
    expect(() => makePlan(wholeSample(sample), { locale: 'not a tag' })).toThrow(InvalidLocaleError)
  })
})
