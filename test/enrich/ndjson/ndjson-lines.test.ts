import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { EnrichOptions } from '../../../src/enrich/options.ts'
import type { Resolver } from '../../../src/resolver.ts'
import { AT, latin1, openWorld, PLACED, run, text, UNPLACED, utf8 } from '../world.ts'
import { jsonString, jsonValue, objectOf } from './json-arbitraries.ts'

let geo: Resolver
beforeAll(async () => {
  geo = await openWorld()
})

const NDJSON = { format: 'ndjson', field: 'ip' } as const

/** The one line that becomes of a line. */
function enriched(line: string, options: EnrichOptions = NDJSON): string {
  return text(run(line, { format: 'ndjson', ...options }).output)
}

/** What lookup says, as a line has it. */
function located(ip: string, options: { locale?: string; at?: number } = {}): string {
  return JSON.stringify(geo.lookup(ip, { at: AT, ...options }))
}

describe('an object', () => {
  it('gets one member more, before its closing brace', () => {
    expect(enriched('{"ip":"81.2.69.142"}')).toBe(`{"ip":"81.2.69.142","location":${located('81.2.69.142')}}`)
  })

  it.each(PLACED)('gets for %s what lookup gives, byte for byte', (ip) => {
    for (const locale of [undefined, 'de', 'pt-BR']) {
      const options = locale === undefined ? {} : { locale }
      expect(enriched(`{"ip":"${ip}"}`, { ...NDJSON, ...options })).toBe(
        `{"ip":"${ip}","location":${located(ip, options)}}`,
      )
    }
  })

  it.each(Object.entries(UNPLACED))('with the address "%s" gets null, counted as %s', (ip, reason) => {
    const line = JSON.stringify({ ip })
    const { output, tally } = run(line, NDJSON)
    expect(text(output)).toBe(`${line.slice(0, -1)},"location":null}`)
    expect(tally).toMatchObject({ lines: 1, resolved: 0, bad: 0, failed: { [reason]: 1 } })
  })

  it.each([
    ['{}', '{"location":null}', 'missing'],
    [' { } ', ' { "location":null} ', 'missing'],
    ['{"ip":null}', '{"ip":null,"location":null}', 'missing'],
    ['{"other":1}', '{"other":1,"location":null}', 'missing'],
    ['{"ip":1.2}', '{"ip":1.2,"location":null}', 'malformed'],
    ['{"ip":true}', '{"ip":true,"location":null}', 'malformed'],
    ['{"ip":{"ip":"81.2.69.142"}}', '{"ip":{"ip":"81.2.69.142"},"location":null}', 'malformed'],
    ['{"ip":["81.2.69.142"]}', '{"ip":["81.2.69.142"],"location":null}', 'malformed'],
  ])('%s has no address', (line, expected, reason) => {
    const { output, tally } = run(`{"ip":"81.2.69.142"}\n${line}`, NDJSON)
    expect(text(output).split('\n')[1]).toBe(expected)
    expect(tally.failed).toEqual({ [reason]: 1 })
  })

  it('keeps big integers, number formats, names that come twice, escapes and spacing', () => {
    const line =
      '  { "id" : 12345678901234567890 , "x":1.0e+2,"x":-0.0,"\\u0069p":"81.2.69.142" ,"s":"\\/é" }\t'
    expect(enriched(line)).toBe(line.replace(' }\t', ` ,"location":${located('81.2.69.142')}}\t`))
  })

  it('reads escapes in the address and the last of two', () => {
    expect(enriched('{"ip":"81.2.69\\u002e142"}')).toContain(located('81.2.69.142'))
    expect(enriched('{"ip":"10.0.0.1","ip":"81.2.69.142"}')).toContain(located('81.2.69.142'))
    expect(enriched('{"ip":"81.2.69.142","ip":"10.0.0.1"}')).toContain('"location":null')
  })

  it('keeps bytes that are no UTF-8', () => {
    const line = Uint8Array.from([...utf8('{"ip":"81.2.69.142","x":"'), 0xff, 0xe9, ...utf8('"}')])
    const { output, tally } = run(line, NDJSON)
    expect(latin1(output)).toBe(
      `${latin1(line).slice(0, -1)},"location":${latin1(utf8(located('81.2.69.142')))}}`,
    )
    expect(tally.resolved).toBe(1)
  })

  it('is what it was when what was added is taken away, and parses to what lookup gives', () => {
    const address = fc.constantFrom(...PLACED, ...Object.keys(UNPLACED))
    const line = objectOf(
      fc.oneof(fc.constantFrom('"ip"', '"a"', '"IP"'), jsonString()),
      fc.oneof(
        jsonValue,
        address.map((ip) => JSON.stringify(ip)),
        jsonString(address),
      ),
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), fc.constantFrom('\n', '\r\n'), (random, end) => {
        // A field that is in none of the first lines would be an error.
        const lines = ['{"ip":"10.0.0.1"}', ...random]
        fc.pre(!lines.some((each) => Object.hasOwn(JSON.parse(each), 'geo')))
        const { output } = run(lines.join(end), { ...NDJSON, into: 'geo' })
        const after = text(output).split(end)
        expect(after.length).toBe(lines.length)
        for (const [index, before] of lines.entries()) {
          const now = after[index] ?? ''
          const parsed = JSON.parse(now)
          const ip: unknown = JSON.parse(before).ip
          const [expected] = typeof ip === 'string' ? geo.lookupMany([ip], { at: AT }) : []
          const location = expected === undefined || 'error' in expected ? null : expected
          expect(parsed.geo).toEqual(location)
          const comma = Object.keys(JSON.parse(before)).length === 0 ? '' : ','
          const added = `${comma}"geo":${JSON.stringify(location)}`
          const place = now.lastIndexOf(added)
          expect(now.slice(0, place) + now.slice(place + added.length)).toBe(before)
        }
      }),
      { numRuns: 300 },
    )
  })
})

describe('lines of one shape', () => {
  const line = (ip: string, n: number | string, s: string) =>
    `{"n":${n},"c":{"ip":"${ip}","ok":true},"s":"${s}"}`

  it('are enriched as each alone', () => {
    const value = fc.oneof(
      fc.constantFrom('1', '-2.5e3', '0', '01', '1.', '', '"x"', 'null'),
      fc.integer().map(String),
    )
    const content = fc.oneof(
      fc.constantFrom(
        '',
        'a',
        'abcdefgh',
        '\\n',
        'x\\',
        '\\u00e9',
        '\\ud',
        'é',
        '\u0001',
        '","x":"y',
        '"',
        'x'.repeat(70),
      ),
      fc.string({ maxLength: 12 }),
    )
    const lines = fc.array(
      fc.tuple(fc.constantFrom(...PLACED, '10.0.0.1', 'x', '\\u0038.8.8.8'), value, content),
      { maxLength: 30 },
    )
    fc.assert(
      fc.property(lines, fc.constantFrom<string | undefined>(undefined, 'n'), (parts, timeField) => {
        const texts = [
          line('81.2.69.142', 1, ''),
          ...parts.map(([ip, n, s]) => line(ip, n, s.replace(/[\n\r]/g, ' '))),
        ]
        const options = { format: 'ndjson', field: 'c.ip', timeField } as const
        const together = text(run(texts.join('\n'), options).output)
        // Alone behind a line of another shape each goes through the scanner.
        const apart = texts.map(
          (each) => text(run(`{"c":{"ip":"10.0.0.1"},"n":1}\n \n${each}`, options).output).split('\n')[2],
        )
        expect(together.split('\n')).toEqual(apart)
      }),
      { numRuns: 150 },
    )
  })

  it('are told from lines that only begin alike', () => {
    const lines = [
      '{"ip":"81.2.69.142","a":1}',
      '{"ip":"81.2.69.142","a":12}',
      '{"ip":"81.2.69.142","a":1}x',
      '{"ip":"81.2.69.142","a":1',
      '{"ip":"81.2.69.142","a":1,"b":2}',
      '{"ip":"81.2.69.142","a":1} ',
      '{"ip":"81.2.69.142","a":1.}',
      '{"ip":"81.2.69.142"}',
      '{"ip":null,"a":1}',
      '{"location":"81.2.69.142","a":1}',
    ]
    const { output, tally } = run(lines.slice(0, 9).join('\n'), NDJSON)
    expect(tally).toMatchObject({ lines: 9, resolved: 5, bad: 3, failed: { missing: 1 } })
    expect(tally.badLines.map(({ line: number }) => number)).toEqual([3, 4, 7])
    expect(text(output).split('\n')[2]).toBe(lines[2])
    expect(() => run(lines.join('\n'), NDJSON)).toThrow('a member "location" already')
  })

  it('may change from line to line, over and over', () => {
    const lines = Array.from(
      { length: 3000 },
      (_, index) => `{"${'abcdefghijklmnop'[index % 16]}${index % 37}":${index},"ip":"81.2.69.142"}`,
    )
    const { output, tally } = run(lines.join('\n'), NDJSON)
    expect(tally).toMatchObject({ lines: 3000, resolved: 3000 })
    const added = `,"location":${located('81.2.69.142')}`
    expect(text(output).replaceAll(added, '').split('\n')).toEqual(lines)
  })
})

describe('a member that is there already', () => {
  const first = '{"ip":"81.2.69.142"}'

  it('is a plan error in the first lines, a bad line later', () => {
    expect(() => run(`${first}\n{"location":1}`, NDJSON)).toThrow(
      expect.objectContaining({ code: 'ENRICH_FIELD_EXISTS' }),
    )
    const many = `${first}\n`.repeat(1000)
    const { output, tally } = run(`${many}{"ip":"81.2.69.142","\\u006cocation":1}\n`, NDJSON)
    expect(tally).toMatchObject({ lines: 1001, resolved: 1000, bad: 1 })
    expect(tally.badLines).toEqual([{ line: 1001, message: 'it has a member "location" already' }])
    expect(text(output).endsWith('\n{"ip":"81.2.69.142","\\u006cocation":1}\n')).toBe(true)
  })

  it('is no matter deeper down', () => {
    expect(enriched('{"a":{"location":1},"ip":"81.2.69.142"}')).toContain(located('81.2.69.142'))
  })

  it.each([
    [
      '{"location" : {"a":[1,2]} , "ip":"81.2.69.142"}',
      (json: string) => `{"location" : ${json} , "ip":"81.2.69.142"}`,
    ],
    ['{"ip":"81.2.69.142","location":null}', (json: string) => `{"ip":"81.2.69.142","location":${json}}`],
    ['{"ip":"81.2.69.142","location":"\\"}" }', (json: string) => `{"ip":"81.2.69.142","location":${json} }`],
    [
      '{"location":1,"ip":"81.2.69.142","location":-2}',
      (json: string) => `{"location":1,"ip":"81.2.69.142","location":${json}}`,
    ],
    ['{"ip":"81.2.69.142"}', (json: string) => `{"ip":"81.2.69.142","location":${json}}`],
  ])('is replaced in place by overwrite: %s', (line, expected) => {
    const output = enriched(line, { ...NDJSON, overwrite: true })
    expect(output).toBe(expected(located('81.2.69.142')))
    expect(JSON.parse(output).location).toEqual(geo.lookup('81.2.69.142', { at: AT }))
  })

  it('can be avoided by another name', () => {
    expect(enriched('{"location":1,"ip":"81.2.69.142"}', { ...NDJSON, into: 'the "place"' })).toBe(
      `{"location":1,"ip":"81.2.69.142","the \\"place\\"":${located('81.2.69.142')}}`,
    )
  })
})

describe('the time of a line', () => {
  const offsetOf = (line: string, options: EnrichOptions = {}): unknown =>
    JSON.parse(enriched(line, { ...NDJSON, timeField: 't', at: Date.UTC(2026, 0, 1), ...options })).location
      .timezone.offset

  it.each([
    ['"2026-07-01T12:00:00Z"', '+01:00'],
    ['"2026-01-01T12:00:00Z"', '+00:00'],
    ['"2026-07-01T12:00:00.123Z"', '+01:00'],
    ['"2026-07-01 12:00:00+0200"', '+01:00'],
    ['"2026-07-01T12:00:00\\u002B02:00"', '+01:00'],
    ['1782907200', '+01:00'],
    ['1782907200000', '+01:00'],
    ['1.7829072e9', '+01:00'],
    ['"1782907200"', '+01:00'],
  ])('%s sets the offset to %s', (time, offset) => {
    expect(offsetOf(`{"t":${time},"ip":"81.2.69.142"}`)).toBe(offset)
  })

  it('is that of the run, and counted, where it cannot be read', () => {
    const lines = ['"2026-07-01T12:00:00Z"', '"yesterday"', 'null', '{}', '"2026-07-01T12:00:00"'].map(
      (time) => `{"t":${time},"ip":"81.2.69.142"}`,
    )
    const { output, tally } = run([...lines, '{"ip":"81.2.69.142"}'].join('\n'), {
      ...NDJSON,
      timeField: 't',
      at: Date.UTC(2026, 0, 1),
    })
    const offsets = text(output)
      .split('\n')
      .map((line) => JSON.parse(line).location.timezone.offset)
    expect(offsets).toEqual(['+01:00', '+00:00', '+00:00', '+00:00', '+00:00', '+00:00'])
    expect(tally.withoutTime).toBe(5)
  })

  it('goes back and forth and is that of lookup', () => {
    const instants = fc.integer({ min: Date.UTC(1990, 0, 1), max: Date.UTC(2030, 0, 1) })
    fc.assert(
      fc.property(
        fc.array(fc.tuple(instants, fc.constantFrom(...PLACED)), { minLength: 1, maxLength: 40 }),
        (events) => {
          const lines = events.map(([at, ip]) => JSON.stringify({ t: at, ip }))
          const { output } = run(lines.join('\n'), { ...NDJSON, timeField: 't' })
          for (const [index, line] of text(output).split('\n').entries()) {
            const [at, ip] = events[index] ?? [0, '']
            // Small numbers are seconds.
            expect(JSON.parse(line).location).toEqual(
              geo.lookup(ip, { at: Math.abs(at) < 1e11 ? at * 1000 : at }),
            )
          }
        },
      ),
      { numRuns: 100 },
    )
  })
})

describe('a list of hops', () => {
  const trusting = { format: 'ndjson', trustedProxies: ['uniquelocal', '198.51.100.0/24'] } as const

  it.each([
    ['81.2.69.142', 'resolved'],
    ['81.2.69.142, 10.0.0.1', 'resolved'],
    ['1.1.1.1, 81.2.69.142, 198.51.100.7,10.0.0.1', 'resolved'],
    ['nonsense, 81.2.69.142:4711, 10.0.0.1', 'resolved'],
    ['81.2.69.142, nonsense, 10.0.0.1', 'malformed'],
    ['81.2.69.142, unknown, 10.0.0.1', 'unidentified'],
    ['10.0.0.2, 10.0.0.1', 'trusted-proxy'],
    ['81.2.69.142, 8.8.8.8', 'not-found'],
    ['', 'missing'],
  ])('%s is %s', (list, outcome) => {
    const { output, tally, notes } = run(
      `{"x_forwarded_for":"81.2.69.1, 10.0.0.1"}\n{"x_forwarded_for":"${list}"}`,
      trusting,
    )
    expect(notes).toContain('the address is in x_forwarded_for')
    const { location } = JSON.parse(text(output).split('\n')[1] ?? '')
    if (outcome === 'resolved') expect(location).toEqual(geo.lookup('81.2.69.142', { at: AT }))
    else expect([location, tally.failed]).toEqual([null, { [outcome]: 1 }])
  })

  it('is refused where nobody is trusted', () => {
    expect(() => run('{"xff":"81.2.69.142, 10.0.0.1"}', { format: 'ndjson', field: 'xff' })).toThrow(
      expect.objectContaining({ code: 'ENRICH_FIELD_IS_LIST' }),
    )
  })
})
