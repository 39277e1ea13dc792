import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { looksLikeAccessLog, planAccessLog } from '../../../../src/enrich/formats/access-log/access-log.ts'
import type { EnrichOptions } from '../../../../src/enrich/formats/formats.ts'
import { isLookupFailure } from '../../../../src/location/location-record.ts'
import {
  bytesOf,
  enrichBytes,
  enrichText,
  objectsIn,
  openWorld,
  PLACED,
  run,
  text,
  textOrMessage,
  UNPLACED,
  utf8,
  wholeSample,
} from '../../world.ts'

const LINE = '81.2.69.142 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 2326'

describe('looksLikeAccessLog', () => {
  it.each([
    [`${LINE}\n`, true],
    [`\ufeff${LINE}\r\n\r\n${LINE}\r\n`, true],
    [LINE, true],
    [`${LINE}\n${LINE}\nnonsense\n${LINE.slice(0, 20)}`, true],
    [`${LINE}\nnonsense\nnonsense\n`, false],
    ['', false],
    ['\n\n', false],
    ['ip,time\n1.2.3.4,5\n', false],
    ['{"ip":"1.2.3.4"}\n', false],
    ['1.2.3.4\n', false],
  ])('%j: %s', (sample, expected) => {
    expect(looksLikeAccessLog(utf8(sample))).toBe(expected)
  })
})

describe('planAccessLog', () => {
  const sample = wholeSample(`${LINE}\n`)

  it('plans for lines that are none, which the run will report', () => {
    expect(planAccessLog(wholeSample(''), {}).plan.hasVhost).toBe(false)
    expect(planAccessLog(wholeSample('nonsense\n'), {}).plan.hasVhost).toBe(false)
  })

  it.each([
    [{ field: 'client' }, 'ENRICH_FIELD_UNKNOWN'],
    [{ field: '3' }, 'ENRICH_FIELD_UNKNOWN'],
    [{ field: 'x_forwarded_for' }, 'ENRICH_FIELD_IS_LIST'],
    [{ into: 'ip' }, 'ENRICH_FIELD_EXISTS'],
    [{ into: 'rest', overwrite: true }, 'ENRICH_FIELD_EXISTS'],
  ])('refuses %j: %s', (options, code) => {
    expect(() => planAccessLog(sample, options)).toThrow(expect.objectContaining({ code }))
  })

  it('refuses a field of the time, as lines have one', () => {
    expect(() => planAccessLog(sample, { timeField: 'time' })).toThrow(TypeError)
  })

  it('takes any name for the location where lines are kept', () => {
    expect(planAccessLog(sample, { into: 'ip', append: true }).plan.append).toBe(true)
  })
})

const LOG: EnrichOptions = { format: 'access-log' }
const TIME = '[10/Oct/2000:13:55:36 -0700]'

type Parts = Readonly<Record<string, unknown>>

/** What a line becomes, without the location. */
function partsOf(line: string | Uint8Array, options: EnrichOptions = LOG): Parts {
  const bytes = typeof line === 'string' ? utf8(line) : line
  const { output, counts } = enrichBytes(bytes, options)
  expect(counts.badLines).toEqual([])
  const [{ location: _, ...parts } = {}, ...others] = objectsIn(output)
  expect(others).toEqual([])
  return parts
}

/** The parts of Apache's example. */
const EXAMPLE = {
  ip: '81.2.69.142',
  ident: null,
  user: 'frank',
  time: '2000-10-10T13:55:36-07:00',
  method: 'GET',
  target: '/apache_pb.gif',
  protocol: 'HTTP/1.0',
  status: 200,
  bytes: 2326,
  referrer: null,
  user_agent: null,
}
const START = `81.2.69.142 - frank ${TIME} "GET /apache_pb.gif HTTP/1.0" 200 2326`
const COMBINED = {
  ...EXAMPLE,
  referrer: 'http://www.example.com/start.html',
  user_agent: 'Mozilla/4.08 [en]',
}
const COMBINED_LINE = `${START} "http://www.example.com/start.html" "Mozilla/4.08 [en]"`

describe('lines that are read', () => {
  it.each<[string, Parts, string]>([
    [START, EXAMPLE, 'common'],
    [COMBINED_LINE, COMBINED, 'combined'],
    [`${START} "-" "-"`, EXAMPLE, 'combined, with nothing known'],
    [`${START} "" ""`, { ...EXAMPLE, referrer: '', user_agent: '' }, 'an empty text is not an unknown one'],
    [`${START} "-" "curl/8.0" 0.005`, { ...EXAMPLE, user_agent: 'curl/8.0', rest: '0.005' }, 'more after it'],
    [`${START} "-" "-" "a" "b"`, { ...EXAMPLE, rest: '"a" "b"' }, 'more after it, in quotes'],
    [`${START} 0.005 "-" "-"`, { ...EXAMPLE, rest: '0.005 "-" "-"' }, 'something before the referrer'],
    [`${START} "-"`, { ...EXAMPLE, rest: '"-"' }, 'one part only'],
    [`${START} `, EXAMPLE, 'a space after it'],
    [`${COMBINED_LINE} `, COMBINED, 'the same'],
    [`${START} "-" "-"\r`, EXAMPLE, 'a line end of Windows'],
  ])('%s', (line, parts) => {
    expect(partsOf(line)).toEqual(parts)
  })

  it('have a fraction of a second and a short offset in the room of the usual offset', () => {
    const line = START.replace('13:55:36 -0700', '13:55:36.123 Z')
    expect(partsOf(line)).toMatchObject({ time: '2000-10-10T13:55:36.123+00:00' })
  })

  it.each(['', 'x "a'])('have no offset if a server without a clock wrote them: %j', (end) => {
    const line = `81.2.69.142 - - [01/Jan/1970:00:00:12 +0000] "GET / HTTP/1.0" 200 7 "-" "-"${end}`
    expect(JSON.parse(enrichText(`${line}\n`, { format: 'access-log' }))).toMatchObject({
      time: '1970-01-01T00:00:12+00:00',
      location: { city: 'London', timezone: { offset: null } },
    })
  })

  it.each<[string, Parts, string]>([
    ['"-"', {}, 'no request was read (408)'],
    ['""', { request: '' }, 'an empty one'],
    ['"\\x16\\x03\\x01\\x02"', { request: '\\x16\\x03\\x01\\x02' }, 'TLS for HTTP'],
    ['"\\x16\\x03\\x01 a HTTP/1.1"', { request: '\\x16\\x03\\x01 a HTTP/1.1' }, 'the same, with words'],
    ['"GET"', { request: 'GET' }, 'no target'],
    ['"GET HTTP/1.1"', { request: 'GET HTTP/1.1' }, 'no target'],
    ['"GET  HTTP/1.1"', { request: 'GET  HTTP/1.1' }, 'no target, but its spaces'],
    ['"GE~T / HTTP/1.1"', { request: 'GE~T / HTTP/1.1' }, 'a method that nobody has'],
    ['"GET / HTTP/x"', { request: 'GET / HTTP/x' }, 'a version that is no number'],
    ['"GET / with more"', { request: 'GET / with more' }, 'no protocol'],
    ['"GET /"', { method: 'GET', target: '/' }, 'HTTP/0.9'],
    ['"PRI * HTTP/2.0"', { method: 'PRI', target: '*', protocol: 'HTTP/2.0' }, 'a preface of HTTP/2'],
    ['"GET /a b HTTP/1.1"', { method: 'GET', target: '/a b', protocol: 'HTTP/1.1' }, 'a space in the target'],
    ['"CONNECT a:443 HTTP/1.1"', { method: 'CONNECT', target: 'a:443', protocol: 'HTTP/1.1' }, 'a proxy'],
    ['"OPTIONS / RTSP/1.0"', { method: 'OPTIONS', target: '/', protocol: 'RTSP/1.0' }, 'a scanner'],
    ['"M-SEARCH * HTTP/1.1"', { method: 'M-SEARCH', target: '*', protocol: 'HTTP/1.1' }, 'a hyphen'],
    ['"GET /?q=\\"a\\" HTTP/1.1"', { method: 'GET', target: '/?q=\\"a\\"', protocol: 'HTTP/1.1' }, 'Apache'],
    ['"GET /?q=\\x22 HTTP/1.1"', { method: 'GET', target: '/?q=\\x22', protocol: 'HTTP/1.1' }, 'nginx'],
    [
      '"GET /?q="a" HTTP/1.1"',
      { method: 'GET', target: '/?q="a"', protocol: 'HTTP/1.1' },
      'quotes by nobody',
    ],
    ['"GET /\\\\ HTTP/1.1"', { method: 'GET', target: '/\\\\', protocol: 'HTTP/1.1' }, 'a backslash'],
  ])('the request %s', (request, parts) => {
    const nothing = { method: null, target: null, protocol: null }
    expect(partsOf(`81.2.69.142 - frank ${TIME} ${request} 200 2326`)).toEqual({
      ...EXAMPLE,
      ...nothing,
      ...parts,
    })
  })

  it.each<[string, Parts, string]>([
    [`1.2.3.4 - - ${TIME} "-" 408 -`, { user: null, status: 408, bytes: null }, 'no bytes'],
    [`1.2.3.4 - - ${TIME} "-" - -`, { status: null, bytes: null }, 'no status'],
    [`1.2.3.4 - - ${TIME} "-" 000 000`, { status: 0, bytes: 0 }, 'zeros in front, which JSON has not'],
    [`1.2.3.4 - - ${TIME} "-" 200 007`, { bytes: 7 }, 'the same'],
    [`1.2.3.4 - J. Doe ${TIME} "-" 200 1`, { user: 'J. Doe' }, 'a space in the user'],
    [`1.2.3.4 - [J] [ Doe ${TIME} "-" 200 1`, { user: '[J] [ Doe' }, 'brackets in the user'],
    [`1.2.3.4 - "" ${TIME} "-" 200 1`, { user: '""' }, "Apache's empty user"],
    [`1.2.3.4 - ${TIME} "-" 200 1`, { ident: null, user: null }, 'no user'],
    [`1.2.3.4 me you ${TIME} "-" 200 1`, { ident: 'me', user: 'you' }, 'all known'],
    [`2001:4860::8888 - - ${TIME} "-" 200 1`, { ip: '2001:4860::8888' }, 'IPv6'],
    [`host.example.com - - ${TIME} "-" 200 1`, { ip: 'host.example.com' }, 'a host name'],
    [`1.2.3.4, 5.6.7.8 - - ${TIME} "-" 200 1`, { ip: '1.2.3.4, 5.6.7.8' }, 'a list'],
    [
      '1.2.3.4 - - [2000-10-10T13:55:36.5+02:00] "-" 200 1',
      { time: '2000-10-10T13:55:36.5+02:00' },
      'ISO 8601',
    ],
    [
      `1.2.3.4 - - ${TIME} "-" 200 1 "a\\" "b" "c"`,
      { referrer: 'a\\" "b', user_agent: 'c' },
      'an escaped quote',
    ],
    [
      `1.2.3.4 - - ${TIME} "-" 200 1 "a" "b\\""`,
      { referrer: 'a', user_agent: 'b\\"' },
      'the same, at the end',
    ],
    [`1.2.3.4 - - ${TIME} "-" 200 1 "a" "b\\\\"`, { user_agent: 'b\\\\' }, 'an escaped backslash'],
    [
      `1.2.3.4 - - ${TIME} "-" 200 1 "?q="x"" "b"c"`,
      { referrer: '?q="x"', user_agent: 'b"c' },
      'quotes by nobody',
    ],
    [`1.2.3.4 - - ${TIME} "-" 200 1 "é" "\t"`, { referrer: 'é', user_agent: '\t' }, 'other characters'],
  ])('%s', (line, parts) => {
    expect(partsOf(line)).toMatchObject(parts)
  })

  it('can begin with a virtual host', () => {
    const lines = `example.com:443 ${START}\nexample.com:80 9.9.9.9 - - ${TIME} "-" 200 1\n`
    const { output, notes, counts } = enrichBytes(utf8(lines), {})
    expect(notes).toEqual([
      'the format is access-log',
      'the address is in the second word, after the virtual host',
    ])
    expect(counts).toMatchObject({ resolved: 1, failed: { 'not-found': 1 } })
    const [first, second] = objectsIn(output)
    expect(first).toMatchObject({ vhost: 'example.com:443', ...EXAMPLE })
    expect(second).toMatchObject({ vhost: 'example.com:80', ip: '9.9.9.9', user: null })
  })

  it('are those of any parts', async () => {
    const resolver = await openWorld()
    const text = fc.string({
      unit: fc.constantFrom('a', ' ', '[', ']', '\\"', '\\\\', "'", 'é', '-', '\\x16'),
      maxLength: 12,
    })
    const word = fc.stringMatching(/^[a-z0-9.[\]]{1,8}$/)
    const fields = fc.record({
      ip: fc.constantFrom(...PLACED, ...Object.keys(UNPLACED).filter((each) => /^\S+$/.test(each))),
      ident: word,
      user: word,
      second: fc.integer({ min: 100_000_000, max: 4_000_000_000 }),
      method: fc.stringMatching(/^[A-Z][A-Z-]{0,7}$/),
      target: text.map((each) => `/${each}`),
      protocol: fc.constantFrom('HTTP/1.0', 'HTTP/1.1', 'HTTP/2.0'),
      status: fc.integer({ min: 100, max: 599 }),
      bytes: fc.nat(),
      referrer: text,
      agent: text,
      rest: fc.option(
        fc.stringMatching(/^[a-z0-9 ."]{1,10}$/).map((each) => `r${each}`),
        { nil: '' },
      ),
    })
    fc.assert(
      fc.property(fc.array(fields, { minLength: 1, maxLength: 8 }), (all) => {
        const lines = all.map(
          ({ ip, ident, user, second, method, target, protocol, status, bytes, ...parts }) => {
            const time = `[${new Date(second * 1000).toISOString()}]`
            const request = `"${method} ${target} ${protocol}" ${status} ${bytes}`
            const end = parts.rest === '' ? '' : ` ${parts.rest}`
            return `${ip} ${ident} ${user} ${time} ${request} "${parts.referrer}" "${parts.agent}"${end}\n`
          },
        )
        const { output, counts } = enrichBytes(utf8(lines.join('')), LOG, 150)
        expect(counts.lines).toBe(all.length)
        const known = (value: string) => (value === '-' ? null : value)
        const expected = all.map((each) => {
          const at = each.second * 1000
          const [result] = resolver.lookupMany([each.ip], { at })
          return {
            ip: known(each.ip),
            ident: each.ident,
            user: each.user,
            time: new Date(at).toISOString().replace('Z', '+00:00'),
            method: each.method,
            target: each.target,
            protocol: each.protocol,
            status: each.status,
            bytes: each.bytes,
            referrer: known(each.referrer),
            user_agent: known(each.agent),
            ...(each.rest === '' ? {} : { rest: each.rest }),
            location: result === undefined || isLookupFailure(result) ? null : result,
          }
        })
        expect(objectsIn(output)).toEqual(expected)
      }),
    )
  })
})

describe('lines that are not read', () => {
  it.each([
    ['hello', 'a text'],
    [' ', 'a blank'],
    ['{"ip":"1.2.3.4"}', 'JSON'],
    ['#Fields: date time c-ip', 'the header of another format'],
    [` 1.2.3.4 - - ${TIME} "-" 200 1`, 'a space in front'],
    [`host.example.com - - ${TIME} "GET / HT`, 'cut off, and no address'],
    [`- - - ${TIME} "GET / HT`, 'the same'],
    ['\u001b[2Kweb-1  | \u0007"\\', 'characters that JSON escapes'],
  ])('lines that cannot be read stand among NDJSON as they are: %j: %s', (line) => {
    const { output, counts } = enrichBytes(utf8(`${line}\r\n${START}\n`), LOG)
    expect(counts).toMatchObject({
      resolved: 1,
      badLines: [{ line: 1, message: expect.stringContaining('not a line of an access log') }],
    })
    expect(objectsIn(output)).toMatchObject([{ raw: line, location: null }, EXAMPLE])
    expect(Object.keys(objectsIn(output)[0] ?? {})).toEqual(['raw', 'location'])
  })

  it('bytes that are not UTF-8 are not JSON', () => {
    const lines = bytesOf(`\xff\xc3 \xe9\n81.2.69.142 \xff\xc3\n`)
    expect(objectsIn(enrichBytes(lines, LOG).output)).toMatchObject([
      { raw: '\ufffd\ufffd \ufffd' },
      { ip: '81.2.69.142', rest: '\ufffd\ufffd' },
    ])
  })

  it('the name of the location is not that of other lines', () => {
    expect(enrichText('hello\n', { ...LOG, into: 'geo "x"' })).toBe('{"raw":"hello","geo \\"x\\"":null}\n')
  })
})

describe('lines that are cut off or damaged', () => {
  const nothing = Object.fromEntries(Object.keys(EXAMPLE).map((name) => [name, null]))
  const host = { ...nothing, ip: '81.2.69.142' }
  const time = { ...host, ident: null, user: 'frank', time: EXAMPLE.time }
  const AT_TIME = `81.2.69.142 - frank ${TIME}`

  it.each<[start: string, known: Parts, rest: string | null, why: string]>([
    ['81.2.69.142', host, null, 'an address alone'],
    ['81.2.69.142 ', host, null, 'the same'],
    ['81.2.69.142', host, 'hello, world', 'a text'],
    ['81.2.69.142', host, '- frank', 'cut off before the time'],
    ['81.2.69.142', host, '- frank [10/Oct/2000:13:55:36] "-" 200 1', 'no offset'],
    ['81.2.69.142', host, '- frank [-] "-" 200 1', 'no time'],
    [AT_TIME, time, null, 'cut off after the time'],
    [`${AT_TIME} `, time, null, 'the same'],
    [AT_TIME, time, '"', 'cut off in the request'],
    [AT_TIME, time, '"GET / HTTP/1.1', 'the same'],
    [AT_TIME, time, '"GET / HTTP/1.1"', 'cut off after it'],
    [AT_TIME, time, '"GET / HTTP/1.1" 200', 'cut off after the status'],
    [AT_TIME, time, '"GET / HTTP/1.1" 200 ', 'the same'],
    [AT_TIME, time, '"GET /" 20 1', 'two digits'],
    [AT_TIME, time, '"GET /" 200 1x', 'no number'],
    [AT_TIME, time, `"-" 200 ${'9'.repeat(20)}`, 'no size'],
    [AT_TIME, time, 'GET / HTTP/1.1 200 1', 'no quotes'],
    [START, EXAMPLE, '"http://a', 'cut off in the referrer'],
    [START, EXAMPLE, '"-" "Mozilla', 'cut off in the user agent'],
    [START, EXAMPLE, '"-" "Mozilla\\"', 'its quote is escaped'],
  ])('%s is not located, though its address can be read: %#', (start, known, rest) => {
    const [line, parts] = rest === null ? [start, known] : [`${start} ${rest}`, { ...known, rest }]
    expect(partsOf(line)).toEqual(parts)
    const { counts, output } = enrichBytes(utf8(`${line}\n`), LOG)
    const hasTime = parts.time !== null
    expect(counts).toMatchObject({ resolved: 1, bad: 0, withoutTime: hasTime ? 0 : 1 })
    expect(objectsIn(output)).toMatchObject([
      { location: { city: 'London', timezone: { offset: hasTime ? '+01:00' : null } } },
    ])
  })

  it('are located after a virtual host, and by the address that is trusted least', () => {
    const lines = `example.com:80 ${START}\nexample.com:80 81.2.69.142 - - cut\nexample.com:80\n`
    expect(objectsIn(enrichBytes(utf8(lines), LOG).output).slice(1)).toMatchObject([
      { vhost: 'example.com:80', ip: '81.2.69.142', rest: '- - cut', location: { city: 'London' } },
      { raw: 'example.com:80' },
    ])
    const trusting = { ...LOG, field: 'x_forwarded_for', trustedProxies: ['10.0.0.0/8'] }
    const { counts } = enrichBytes(utf8(`10.0.0.1 - - ${TIME} "-" 200 1 "-" "cut`), trusting)
    expect(counts.failed).toEqual({ 'trusted-proxy': 1 })
  })
})

describe('x_forwarded_for', () => {
  const options: EnrichOptions = { ...LOG, field: 'x_forwarded_for', trustedProxies: ['10.0.0.0/8'] }
  const line = (peer: string, list: string) => `${peer} - - ${TIME} "-" 200 1 "-" "-"${list}`

  it.each<[string, string, Parts, string | null, string | null, string]>([
    ['10.0.0.1', ' "81.2.69.142"', { x_forwarded_for: '81.2.69.142' }, '81.2.69.142', null, 'one hop'],
    ['9.9.9.9', ' "81.2.69.142"', {}, null, 'not-found', 'a sender that is not trusted is the client'],
    ['10.0.0.1', ' "-"', { x_forwarded_for: null }, null, 'trusted-proxy', 'nothing was forwarded'],
    ['81.2.69.1', '', {}, '81.2.69.1', null, 'the part is not there'],
    ['81.2.69.1', ' ""', {}, '81.2.69.1', null, 'it is empty'],
    ['10.0.0.1', ' "nonsense"', {}, null, 'malformed', 'what decides cannot be read'],
    ['10.0.0.1', ' "81.2.69.142" 0.1 "x"', { rest: '0.1 "x"' }, '81.2.69.142', null, 'more after it'],
  ])('of %s%.60s', (peer, list, parts, ip, reason) => {
    const { output, counts } = enrichBytes(utf8(`${line(peer, list)}\n`), { ...options, force: true })
    expect(objectsIn(output)).toMatchObject([{ ...parts, ip: peer, location: ip === null ? null : { ip } }])
    expect(counts.failed).toEqual(reason === null ? {} : { [reason]: 1 })
  })

  it('is taken of the first word with proxies that are trusted', () => {
    const given = line('81.2.69.142, 10.0.0.1', '')
    const { output } = enrichBytes(utf8(given), { ...LOG, trustedProxies: ['10.0.0.0/8'] })
    expect(objectsIn(output)).toMatchObject([
      { ip: '81.2.69.142, 10.0.0.1', location: { ip: '81.2.69.142' } },
    ])
  })
})

const REST = '- - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 12'
const MAIN = '- - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 12 "-" "curl"'

const outcome = (lines: readonly string[], options: EnrichOptions = {}): string =>
  textOrMessage(() => {
    const { notes, output } = run(`${lines.join('\n')}\n`, options)
    return `${notes.at(-1)} | ${text(output).match(/"ip":"[^"]*"/g)?.[0]}`
  })

describe('an access log whose lines begin with two addresses', () => {
  const lines = [`81.2.69.142 52.95.110.1 ${REST}`, `89.160.20.112 52.95.110.1 ${REST}`]

  it.each<[string, EnrichOptions]>([
    ['nothing is named', {}],
    ['the guess is named', { field: 'ip' }],
    ['the part after the user agent is named', { field: 'x_forwarded_for', trustedProxies: ['loopback'] }],
  ])('is refused with both choices if %s', (_, options) => {
    expect(outcome(lines, options)).toMatch(
      /begin with two addresses, for example "81.2.69.142 52.95.110.1", .* --field 1 or --field 2, .* --log-format$/,
    )
  })

  it('is said to begin with a name if it does', () => {
    const named = ['a', 'b'].map((name) => `${name}.example.org 52.95.110.1 ${REST}`)
    expect(outcome(named)).toContain(
      'begin with a name and an address, for example "a.example.org 52.95.110.1"',
    )
  })

  it('has no forwarded addresses to name', () => {
    const named = { field: 'x_forwarded_for', trustedProxies: ['loopback'] }
    expect(outcome([`81.2.69.142 - ${REST}`], named)).toMatch(/leave out --field, or continue with --force/)
    expect(outcome([`81.2.69.142 - ${REST}`], { ...named, force: true })).toContain('"ip":"81.2.69.142"')
  })

  it('is read as --field says', () => {
    expect(outcome(lines, { field: '1' })).toBe('the address is in the first word | "ip":"81.2.69.142"')
    expect(outcome(lines, { field: '2' })).toContain(
      'the second word, after the virtual host | "ip":"52.95.110.1"',
    )
  })

  it.each(
    Object.entries({
      'a list of hops and a proxy': [`81.2.69.142, 10.0.0.1 10.0.0.2 ${REST}`, `- 10.0.0.2 ${REST}`],
      'an address with a port': [`81.2.69.142:80 10.0.0.2 ${REST}`],
      'an address in quotes': [`"81.2.69.142" 52.95.110.1 ${REST}`],
      'names of clients, found by their addresses': [
        `a.example.org 52.95.110.1 ${REST}`,
        `b.example.org 52.95.110.1 ${REST}`,
      ],
      'some names and some addresses': [
        `a.example.org 52.95.110.1 ${REST}`,
        `81.2.69.142 52.95.110.1 ${REST}`,
      ],
    }),
  )('is refused too with %s', (_, refused) => {
    expect(outcome(refused)).toMatch(/--field 1 or --field 2, .* --log-format$/)
  })
})

describe('an access log in which some lines have a virtual host', () => {
  const [first, second] = ['81.2.69.142', '89.160.20.112']
  const hosted = (ip: string): string => `www.example.org:443 ${ip} ${REST}`
  const lastOf = (lines: readonly string[], options: EnrichOptions = {}): string =>
    JSON.stringify(objectsIn(run(`${lines.join('\n')}\n`, options).output).at(-1))

  it.each([
    [
      'later',
      [`${first} ${REST}`, `${first} ${REST}`, hosted(second)],
      `{"vhost":"www.example.org:443","ip":"${second}"`,
    ],
    ['at first', [hosted(first), hosted(first), `${second} ${REST}`], `{"ip":"${second}"`],
  ])('is read where they have it %s', (_, lines, start) => {
    expect(lastOf(lines)).toContain(start)
    expect(lastOf(lines)).toContain(`"location":{"ip":"${second}"`)
    for (const append of [true, false])
      expect(run(`${lines.join('\n')}\n`, { append }).counts.resolved).toBe(3)
  })

  it('keeps the word that is named', () => {
    const last = lastOf([`${first} ${REST}`, hosted(second)], { field: '1' })
    expect(last).toContain('"ip":"www.example.org:443"')
    expect(last).toContain('"location":null')
  })

  it('does not take the identity that a client claims', () => {
    const claimed = `host.example.org ${second} bob ${REST.slice(4)}`
    expect(lastOf([`${first} ${REST}`, `${first} ${REST}`, claimed])).toContain('"location":null')
  })

  it.each(['-', 'host.example.org'])('does not take a virtual host for the client %s', (client) => {
    expect(lastOf([hosted(first), hosted(first), `${second} ${client} ${REST}`])).toContain('"location":null')
  })
})

describe('an access log of a server behind a proxy', () => {
  it('says what to type for the clients, which works', () => {
    const lines = [`10.0.0.1 ${MAIN} "81.2.69.142"`, `10.0.0.1 ${MAIN} "9.9.9.9, 10.1.1.1"`]
    expect(outcome(lines)).toMatch(
      /To locate their clients: --field x_forwarded_for --trust loopback,uniquelocal \|/,
    )
    const { counts } = run(`${lines.join('\n')}\n`, {
      field: 'x_forwarded_for',
      trustedProxies: ['loopback', 'uniquelocal'],
    })
    expect([counts.resolved, counts.failed]).toEqual([1, { 'not-found': 1 }])
  })

  it('says that public addresses can be those of proxies, if most lines have a list', () => {
    const note = /most lines have a list of forwarded addresses too.*--field x_forwarded_for --trust/
    const line = (list: string): string => `172.64.1.1 ${MAIN} "${list}"`
    expect(outcome([line('81.2.69.142'), line('9.9.9.9, 8.8.8.8')])).toMatch(note)
    expect(outcome([line('81.2.69.142'), line('-'), line('-')])).not.toMatch(note)
  })

  it.each([
    ['the user', '- 81.2.69.142'],
    ['the identity, in parentheses', '(81.2.69.142) -'],
  ])('says that most lines have another address in the place of %s', (_, words) => {
    const lines = [`172.64.1.1 ${words} ${MAIN.slice(4)}`, `172.64.1.1 ${words} ${MAIN.slice(4)}`]
    expect(outcome(lines)).toMatch(
      /another address before the time, for example 81.2.69.142. .* --log-format/,
    )
    const logFormat = `$proxy ${words.replace('81.2.69.142', '$remote_addr')} [$time_local] "$request" $status $bytes "$referrer" "$agent"`
    const { output } = run(`${lines.join('\n')}\n`, { logFormat })
    expect(text(output)).toContain('"city":"London"')
    expect(outcome([`172.64.1.1 - bob ${MAIN.slice(4)}`])).toMatch(/^the address is in the first word/)
  })

  it('says nothing without such a part, or if the clients are private too', () => {
    const after = MAIN.slice(4)
    expect(outcome([`81.2.69.142 - 81.2.69.142 ${after}`])).toMatch(/^the address is in the first word \|/)
    expect(outcome([`172.64.1.1 - 81.2.69.142, 9.9.9.9 ${after}`])).toMatch(/another address before the time/)
    const afterVhost = `example.org 172.64.1.1 9.9.9.9 - - ${after}`
    expect(outcome([afterVhost])).toMatch(/another address before the time, for example 9.9.9.9/)
    expect(outcome([`10.0.0.1 ${MAIN}`])).toBe('the address is in the first word | "ip":"10.0.0.1"')
    expect(outcome([`10.0.0.1 ${MAIN} "10.0.0.9"`])).toMatch(/^the address is in the first word/)
  })

  it('says how to read lists in the first word', () => {
    expect(outcome([`81.2.69.142, 10.0.0.1 ${REST}`])).toMatch(/as in --trust loopback,uniquelocal/)
  })
})
