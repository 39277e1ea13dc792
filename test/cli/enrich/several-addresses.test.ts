// Several addresses of a line: geofix enrich --field A=into --field B=into.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { failure, printed, words, workspace } from './command-line.ts'

const { at: path, file, enrich: withDatabase } = workspace()
const enrich = (...args: string[]) => withDatabase(['--stats', 'none', ...args])

const TIME = '2026-07-01T12:00:00Z'
const ZEEK = ['#separator \\x09', '#unset_field\t-', '#fields\tts\tsrc\tdst', '#types\ttime\taddr\taddr']
const SQUID =
  '1782864007.250    310 81.2.69.142 TCP_MISS/304 297 GET http://x.example/ - DIRECT/1.2.3.4 text/html'

/** A log of each kind with two addresses a line, and the fields that have them. */
const LOGS: readonly [format: string, log: string, flags: readonly string[]][] = [
  [
    'ndjson',
    `{"ts":"${TIME}","a":{"src":"81.2.69.142"},"dst":"1.2.3.4"}\r\n{"a":{"src":"10.0.0.1"},"dst":"x"}\nbad\n{"dst":"1.2.3.4"}`,
    ['a.src', 'dst'],
  ],
  ['json', `[{"src":"81.2.69.142","dst":"1.2.3.4"},\n {"src":"1.2.3.4"}]\n`, ['src', 'dst']],
  ['csv', `ts,src,dst\n${TIME},81.2.69.142,1.2.3.4\n,10.0.0.1,"1.2.3.4"\nbad\n`, ['src', 'dst']],
  ['tsv', `ts\tsrc\tdst\n${TIME}\t81.2.69.142\t1.2.3.4\n`, ['src', '3']],
  ['w3c', '#Fields: date time src dst\n2026-07-01 12:00:00 81.2.69.142 1.2.3.4\n', ['src', 'dst']],
  ['zeek', `${ZEEK.join('\n')}\n1782864007.25\t81.2.69.142\t1.2.3.4\n1782864007.25\t-\t-\n`, ['src', 'dst']],
  ['ssv', 'version srcaddr dstaddr start\n2 81.2.69.142 1.2.3.4 1782864007\n', ['srcaddr', 'dstaddr']],
  ['squid', `${SQUID}\n${SQUID.replace('81.2.69.142', '-')}\ncut off\n`, ['client_ip', 'peer']],
]

const named = (fields: readonly string[]): string[] =>
  fields.flatMap((field, index) => ['--field', `${field}=${['from', 'to'][index]}`])

describe('several addresses of a line', () => {
  it.each(LOGS)('are located as two runs locate them: %s', async (format, log, fields) => {
    const [first = '', second = ''] = fields
    writeFileSync(path('in'), log)
    expect(await enrich(path('in'), '--field', first, '--into', 'from', '-o', path('one'))).toMatchObject({
      status: 0,
    })
    const apart = await enrich(path('one'), '--field', second, '--into', 'to')
    const { status, out } = await enrich(path('in'), ...named(fields))
    expect({ status, out }).toEqual({ status: 0, out: apart.out })
    for (const name of ['from', 'to', 'London', 'Sydney']) expect(out).toContain(name)
    const piped = await withDatabase(['--quiet', '--format', format, ...named(fields)], log)
    expect(piped).toMatchObject({ status: 0, out })
  })

  it.each([
    ['zeek', `${ZEEK.join('\n')}\n1782907200.25\t81.2.69.142\t1.2.3.4\n`],
    ['ssv', 'start src src_ip dst\n1782907200 81.2.69.142 81.2.69.142 1.2.3.4\n'],
    ['w3c', `#Fields: timestamp src dst\n${TIME} 81.2.69.142 1.2.3.4\n`],
    ['w3c', '#Fields: date time src dst\n2026-07-01 12:00:00 81.2.69.142 1.2.3.4\n'],
    ['access-log', '1.2.3.4 81.2.69.142 - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 9\n', '2', '1'],
  ])('become members of one object, with its time: %s', async (format, log, src = 'src', dst = 'dst') => {
    const flags = ['--quiet', ...named([src, dst]), '--to', 'ndjson', '--format', format]
    expect(JSON.parse((await withDatabase(flags, log)).out)).toMatchObject({
      from: { city: 'London', timezone: { offset: '+01:00' } },
      to: { city: 'Sydney', timezone: { offset: '+10:00' } },
    })
  })

  it.each(LOGS)('are explained: %s', async (format, log, fields) => {
    writeFileSync(path('in'), log)
    const out = await printed(withDatabase([path('in'), ...named(fields), '--explain']))
    expect(out).toContain(`${path('in')}: the format is ${format}\n`)
    expect(out).toMatch(/^ {2}the first (?:\d+ lines|line): [12] with a location, /m)
    expect(out).toMatch(/^ {2}to: [1-3] with a location, /m)
    for (const name of ['London', 'Sydney']) expect(out).toContain(name)
  })

  it('are shown as flags where a name says that one is the target', async () => {
    const { err } = await withDatabase(
      [],
      '{"src_ip":"81.2.69.142","dest_ip":"1.2.3.4","host_ip":"1.2.3.4"}\n',
    )
    expect(err).toContain(
      'the address is in src_ip (addresses are also in dest_ip, host_ip). To locate both: --field src_ip=source --field dest_ip=target\n',
    )
    const local = await withDatabase([], '{"src_ip":"81.2.69.142","dest_ip":"10.0.0.1"}\n')
    expect(local.err).toContain('(addresses are also in dest_ip)\n')
  })

  it('are counted each, and noted once', async () => {
    const log = '{"a":"81.2.69.142","b":"10.0.0.1"}\n{"a":"81.2.69.142","b":"1.2.3.4"}\n'
    const flags = [file('counts.ndjson', log), ...named(['a', 'b']), '-o', path('counts.out')]
    const { err } = await withDatabase(flags)
    expect(err.split('the format is ndjson')).toHaveLength(2)
    expect(err).toContain('\nto\n  resolved      1 (50.0%)\n  not resolved  1 (50.0%): 1 private\n')
    const json: { resolved: number; bytesWritten: number; others: unknown } = JSON.parse(
      (await withDatabase([...flags, '--quiet', '--stats', 'json'])).err,
    )
    expect(json.resolved).toBe(2)
    expect(json.others).toEqual([{ into: 'to', resolved: 1, unresolved: 1, failed: { private: 1 } }])
    expect(json.bytesWritten).toBe(readFileSync(path('counts.out')).length)
  })

  it('are as many as you name, in files that are joined', async () => {
    for (const name of ['1.csv', '2.csv'])
      writeFileSync(path(name), 'a,b,c\n81.2.69.142,1.2.3.4,2001:4860::1')
    const fields = ['a', 'b', 'c'].flatMap((name) => ['--field', `${name}=${name}_geo`])
    const { out } = await enrich(path('1.csv'), path('2.csv'), ...fields, '--fields', 'country_code')
    const row = '81.2.69.142,1.2.3.4,2001:4860::1,GB,AU,US'
    expect(out).toBe(`a,b,c,a_geo_country_code,b_geo_country_code,c_geo_country_code\n${row}\n${row}`)
  })

  it.each<[string, string[], string]>([
    ['have no names', ['--field', 'a', '--field', 'b'], 'a name of its own'],
    ['have one name', ['--field', 'a=x', '--field', 'b=x'], 'a name of its own'],
    ['have one name from --into', ['--field', 'a', '--field', 'b', '--into', 'x'], 'a name of its own'],
    ['have two names', ['--field', 'a=x', '--into', 'y'], '--field and --into both name'],
    ['are left out', [...named(['a', 'b']), '--only-failed'], '--only-failed takes one --field'],
    ['are found', [...named(['a', 'b']), '--drop-unresolved'], '--drop-unresolved takes one --field'],
    ['are chosen', [...named(['a', 'b']), '--only-country', 'GB'], '--only-country takes one --field'],
    ['are not chosen', [...named(['a', 'b']), '--not-country', 'GB'], '--not-country takes one --field'],
    ['are appended', [...named(['a', 'b']), '--append'], '--append takes one --field'],
    ['are in rows', [...named(['a', 'b']), '--rows', '--format', 'ndjson', '--at', TIME], '--rows takes one'],
    ['have a name that --asn adds', ['--field', 'a=x', '--field', 'b=x_asn', '--asn'], 'a name of its own'],
    ['are in text', [...named(['1', '2']), '--format', 'text'], '--field is for '],
  ])('are refused if they %s', async (_, flags, message) => {
    expect(await withDatabase([...flags], '1.2.3.4\n')).toEqual(failure(2, message))
  })

  it('leave no output if the second one is not there, or its name is taken', async () => {
    for (const [log, field, message] of [
      ['{"a":"81.2.69.142"}\n', 'nothing', /: .*"nothing"/],
      ['{"a":"81.2.69.142","to":1}\n', 'a', /: .*a member "to" already/],
    ] as const) {
      const input = file('short.ndjson', log)
      const ran = await enrich(input, ...named(['a', field]), '-o', path('never'))
      expect(ran).toEqual(failure(1, new RegExp(`^geofix: ${input}${message.source}`)))
      expect(existsSync(path('never'))).toBe(false)
    }
  })

  it('name a field with an equals sign by one more at its end', async () => {
    const { out } = await withDatabase(words`--quiet --field a=b= --into x`, '{"a=b":"81.2.69.142"}\n')
    expect(JSON.parse(out)).toMatchObject({ x: { city: 'London' } })
  })
})
