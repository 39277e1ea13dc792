import { beforeAll, describe, expect, it } from 'vitest'
import type { EnrichOptions } from '../../../../src/enrich/formats/formats.ts'
import { NDJSON as DEFINITION, looksLikeNdjson } from '../../../../src/enrich/formats/ndjson/ndjson.ts'
import type { Resolver } from '../../../../src/resolver.ts'
import { AT, latin1, openWorld, run, text, UNPLACED, utf8, wholeSample } from '../../world.ts'

const plan = (lines: readonly unknown[], options: EnrichOptions = {}) => {
  const { plan: made, notes } = DEFINITION.plan(
    wholeSample(lines.map((line) => JSON.stringify(line)).join('\n')),
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
    ['client.ip', { server: { ip: '10.0.0.1' }, client: { ip: '81.2.69.142' } }, ['client', 'ip']],
    [
      'source.ip',
      { source: { ip: '81.2.69.142', p: 80 }, destination: { ip: '10.0.0.1' } },
      ['source', 'ip'],
    ],
    [
      'remoteAddr deep down',
      { req: { meta: { remoteAddr: '81.2.69.142' } }, x: '1.1.1.1' },
      ['req', 'meta', 'remoteAddr'],
    ],
    ['one with a name of its own', { 'client.ip': '81.2.69.142' }, ['client.ip']],
  ])('is guessed: %s', (_, line, path) => {
    expect(plan([line]).path).toEqual(path)
  })

  it('is found by its values, not by its name only, and is in the notes', () => {
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
    [
      'there are several without a usual name',
      [{ a: '81.2.69.142', b: '1.1.1.1' }],
      "addresses are in a (for example 81.2.69.142), b (for example 1.1.1.1). If one of them has the client's, name it: --field a",
    ],
    ['there is none', [{ a: 'x' }], 'no member was found that holds addresses'],
    [
      'there are only lists',
      [{ x_forwarded_for: '81.2.69.142, 10.0.0.1' }],
      '--field x_forwarded_for --trust loopback,uniquelocal',
    ],
  ])('is not guessed if %s', (_, lines, message) => {
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

  it('is an error if no object has it, and lists the fields with addresses', () => {
    expect(() => plan([{ ip: '81.2.69.142' }], { field: 'client.ip' })).toThrow(
      'none of the first 1 objects has "client.ip"; addresses are in ip',
    )
    expect(() => plan([{ ip: '81.2.69.142' }], { timeField: 'ts' })).toThrow(
      'none of the first 1 objects has "ts"',
    )
  })

  it.each([
    ['forced', '{"ip":"81.2.69.142"}', { force: true }, false],
    ['the sample is cut off, and suggests no other field', '{"msg":"start"}', {}, true],
  ])('is not an error but a note if %s', (_, line, options, isCut) => {
    const named = { field: 'client.ip', timeField: 'ts', ...options }
    const { plan, notes } = DEFINITION.plan({ bytes: utf8(`${line}\n`), isCut }, named)
    expect(plan).toMatchObject({ path: ['client', 'ip'], timePath: ['ts'] })
    expect(notes).toEqual([
      'none of the first 1 objects has "client.ip"',
      'none of the first 1 objects has "ts"',
    ])
  })

  it('is an error in a sample that is cut off if that suggests another field', () => {
    const cut = (options: EnrichOptions) =>
      DEFINITION.plan(
        { bytes: utf8('{"ip":"81.2.69.142","time":"2026-01-01T00:00:00Z"}\n'), isCut: true },
        options,
      )
    expect(() => cut({ field: 'ipp' })).toThrow('none of the first 1 objects has "ipp"; addresses are in ip')
    expect(() => cut({ timeField: 'ts' })).toThrow('none of the first 1 objects has "ts"; a time is in time')
  })

  it('can have dots in its name, or be in an object, if a sample that is cut off does not show which', () => {
    const named = { field: 'client.ip', timeField: 'event.start', at: new Date('2026-01-01T00:00:00Z') }
    const planOf = (line: string) => DEFINITION.plan({ bytes: utf8(line), isCut: true }, named).plan
    const dotted = { dottedPath: ['client.ip'], dottedTimePath: ['event.start'] }
    expect(planOf('{"msg":"start"}\n')).toMatchObject({ path: ['client', 'ip'], ...dotted })
    const none = { dottedPath: null, dottedTimePath: null }
    expect(planOf('{"client":{"ip":"1.1.1.1"},"event":{"start":0}}\n')).toMatchObject(none)
    expect(planOf('{"client.ip":"1.1.1.1","event.start":0}\n')).toMatchObject({
      path: ['client.ip'],
      ...none,
    })
  })

  it.each([['', '/', '/a~2', '~'].slice(0, 3)].flat())('is a TypeError as %j', (field) => {
    expect(() => plan([{ ip: '81.2.69.142' }], { field })).toThrow(TypeError)
  })

  it.each([
    ['xff', { xff: '81.2.69.142, 10.0.0.1' }],
    ['a.b.c.d.e.f', { a: { b: { c: { d: { e: { f: '81.2.69.142, 10.0.0.1' } } } } } }],
    ['hops.1', { hops: ['-', '81.2.69.142, 10.0.0.1'] }],
    ['k'.repeat(300), { ['k'.repeat(300)]: '81.2.69.142, 10.0.0.1' }],
  ])('is an error if it holds lists and no proxy is trusted: %s', (field, line) => {
    expect(() => plan([line], { field })).toThrow(expect.objectContaining({ code: 'ENRICH_FIELD_IS_LIST' }))
    expect(plan([line], { field, trustedProxies: ['10.0.0.1'] }).path.length).toBeGreaterThan(0)
  })

  it('is not looked for in an input without lines', () => {
    expect(plan([]).path).toEqual(['ip'])
  })
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
  it.each(Object.entries(UNPLACED))('with the address "%s" gets null, counted as %s', (ip, reason) => {
    const line = JSON.stringify({ ip })
    const { output, counts } = run(line, NDJSON)
    expect(text(output)).toBe(`${line.slice(0, -1)},"location":null}`)
    expect(counts).toMatchObject({ lines: 1, resolved: 0, bad: 0, failed: { [reason]: 1 } })
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
    const { output, counts } = run(`{"ip":"81.2.69.142"}\n${line}`, NDJSON)
    expect(text(output).split('\n')[1]).toBe(expected)
    expect(counts.failed).toEqual({ [reason]: 1 })
  })

  it('reads escapes in the address and the last of two', () => {
    expect(enriched('{"ip":"81.2.69\\u002e142"}')).toContain(located('81.2.69.142'))
    expect(enriched('{"ip":"10.0.0.1","ip":"81.2.69.142"}')).toContain(located('81.2.69.142'))
    expect(enriched('{"ip":"81.2.69.142","ip":"10.0.0.1"}')).toContain('"location":null')
  })
})

describe('lines with one template', () => {
  it('may share values, of any bytes, until one of them changes', () => {
    // 0xff is not UTF-8, and eight of them, read as a double, are not a number.
    const values = ['\xff'.repeat(24), 'x'.repeat(24), `${'x'.repeat(23)}y`, 'x', '']
    const lines = Array.from({ length: 1000 }, (_, index) => {
      const [a, b] = [values[Math.floor(index / 200)], values[Math.floor(index / 300)]]
      return `{"a":"${a}","n":${index < 700 ? 1 : 'null'},"ip":"81.2.69.142","b":"${b}","c":[${index % 7}]}`
    })
    const bytes = Uint8Array.from(lines.join('\n'), (char) => char.charCodeAt(0))
    const { output, counts } = run(bytes, NDJSON)
    expect(counts).toMatchObject({ lines: 1000, resolved: 1000 })
    const added = latin1(utf8(`,"location":${located('81.2.69.142')}`))
    expect(latin1(output).replaceAll(added, '').split('\n')).toEqual(lines)
  })
})

describe('a member that is there already', () => {
  const first = '{"ip":"81.2.69.142"}'

  it('is a plan error in the first lines, a bad line later', () => {
    expect(() => run(`${first}\n{"location":1}`, NDJSON)).toThrow(
      expect.objectContaining({ code: 'ENRICH_FIELD_EXISTS' }),
    )
    const many = `${first}\n`.repeat(1000)
    const { output, counts } = run(`${many}{"ip":"81.2.69.142","\\u006cocation":1}\n`, NDJSON)
    expect(counts).toMatchObject({ lines: 1001, resolved: 1000, bad: 1 })
    expect(counts.badLines).toEqual([{ line: 1001, message: 'it has a member "location" already' }])
    expect(text(output).endsWith('\n{"ip":"81.2.69.142","\\u006cocation":1}\n')).toBe(true)
  })

  it('does not matter in inner objects', () => {
    expect(enriched('{"a":{"location":1},"ip":"81.2.69.142"}')).toContain(located('81.2.69.142'))
  })

  it.each(
    Object.entries({
      '{"location" : {"a":[1,2]} , "ip":"81.2.69.142"}': (json: string) =>
        `{"location" : ${json} , "ip":"81.2.69.142"}`,
      '{"ip":"81.2.69.142","location":null}': (json: string) => `{"ip":"81.2.69.142","location":${json}}`,
      '{"ip":"81.2.69.142","location":"\\"}" }': (json: string) => `{"ip":"81.2.69.142","location":${json} }`,
      '{"location":1,"ip":"81.2.69.142","location":-2}': (json: string) =>
        `{"location":1,"ip":"81.2.69.142","location":${json}}`,
      '{"ip":"81.2.69.142"}': (json: string) => `{"ip":"81.2.69.142","location":${json}}`,
    }),
  )('is replaced in place by overwrite: %s', (line, expected) => {
    const output = enriched(line, { ...NDJSON, overwrite: true })
    expect(output).toBe(expected(located('81.2.69.142')))
    expect(JSON.parse(output).location).toEqual(geo.lookup('81.2.69.142', { at: AT }))
  })
})

describe('the time of a line', () => {
  const offsetOf = (line: string, options: EnrichOptions = {}): unknown =>
    JSON.parse(enriched(line, { ...NDJSON, timeField: 't', at: Date.UTC(2026, 0, 1), ...options })).location
      .timezone.offset

  it.each([
    ['"2026-07-01T12:00:00Z"', '+01:00'],
    ['"2026-07-01T12:00:00\\u002B02:00"', '+01:00'],
    ['1782907200', '+01:00'],
    ['1.7829072e9', '+01:00'],
  ])('%s sets the offset to %s', (time, offset) => {
    expect(offsetOf(`{"t":${time},"ip":"81.2.69.142"}`)).toBe(offset)
  })
})
