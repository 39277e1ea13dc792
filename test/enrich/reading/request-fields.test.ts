import { describe, expect, it } from 'vitest'
import { reportFields } from '../../../src/enrich/count.ts'
import { makePlan } from '../../../src/enrich/formats/formats.ts'
import { tableOf } from '../../table-of.ts'
import { wholeSample } from '../world.ts'

const IP = '81.2.69.142'

function fieldsOf(text: string) {
  return reportFields(makePlan(wholeSample(text), { force: true }).plan)
}

function fieldsOfObjects(...objects: readonly object[]) {
  return fieldsOf(objects.map((object) => `${JSON.stringify(object)}\n`).join(''))
}

/** An object of JSON, as far as these need it. */
type Tree = { [name: string]: Tree | string | number }

/** An object of members by dotted paths, or names after a slash. Digits are numbers, and a member without a value is the address. */
function objectOf(members: string): Tree {
  const object: Tree = {}
  for (const member of members.split(' ')) {
    const [, path = '', text = ''] = /^(.*?)=(.*)$/.exec(member) ?? []
    const value = text === '' ? IP : /^[\d"]/.test(text) ? JSON.parse(text) : text
    const names = path.startsWith('/') ? [path.slice(1)] : path.split('.')
    let inner = object
    for (const name of names.slice(0, -1)) {
      const known = inner[name]
      const next: Tree = typeof known === 'object' ? known : {}
      inner[name] = next
      inner = next
    }
    inner[names.at(-1) ?? ''] = value
  }
  return object
}

describe('the fields of requests', () => {
  // Members of lines as the programs write them, by their paths, with the values of all that matters. What a report takes has the
  // name of its field before it.
  it.each(tableOf(import.meta.dirname, 'request-members.tsv'))('of %s', (_, members) => {
    const found = Array.from(
      members.matchAll(/(?<=^| )(status|method|path|bytes):(.*?)=/g),
      ([, ...each]) => each,
    )
    const object = objectOf(members.replaceAll(/(?<=^| )(status|method|path|bytes):/g, ''))
    expect(fieldsOfObjects({ level: 'info', client_ip: null }, object)).toEqual(Object.fromEntries(found))
  })

  it.each([
    ['Traefik', { DownstreamStatus: 200, RequestMethod: 'GET' }, 'request_User-Agent', 'request_Referer'],
    ['nginx', { status: '200', request_method: 'GET' }, 'http_user_agent', 'http_referer'],
    [
      'Cloudflare',
      { EdgeResponseStatus: 200, ClientRequestMethod: 'GET' },
      'ClientRequestUserAgent',
      'ClientRequestReferer',
    ],
    ['geofix', { status: 200, method: 'GET' }, 'user_agent', 'referrer'],
    ['a table of requests', { status: 200, method: 'GET' }, 'user_agent', 'referer'],
  ])('with the agent and the referrer of %s', (_, object, agent, referrer) => {
    const all = { client_ip: IP, ...object, [agent]: 'curl/8.5.0', [referrer]: 'https://example.com/' }
    expect(fieldsOfObjects(all)).toMatchObject({ agent, referrer })
    expect(fieldsOfObjects({ ...all, [agent]: '', [referrer]: null })).not.toHaveProperty('agent')
  })

  it('are columns of a table that geofix made', () => {
    const table = `ip,method,target,status,bytes\n${IP},GET,/,200,5\n${IP},,,-,\n`
    expect(fieldsOf(table)).toEqual({ status: 'status', method: 'method', path: 'target', bytes: 'bytes' })
  })

  const w3c = (fields: string, ...records: string[]) =>
    fieldsOf(
      [
        `#Version: 1.0`,
        `#Fields: date time c-ip ${fields}`,
        ...records.map((each) => `2026-07-01 12:00:00 ${IP} ${each}`),
        '',
      ].join('\n'),
    )

  it.each([
    [
      'with an odd method',
      w3c(
        'cs-method cs-uri-stem sc-status sc-bytes',
        'GET / 200 5',
        'SSTP_DUPLEX_POST /a 404 -',
        '\\x16\\x03 / 400 0',
      ),
      { status: 'sc-status', method: 'cs-method', path: 'cs-uri-stem', bytes: 'sc-bytes' },
    ],
    ['without a method', w3c('cs-uri-stem sc-status', '/ 200'), { status: 'sc-status', path: 'cs-uri-stem' }],
    [
      'with agents and referrers',
      w3c('cs-method cs(User-Agent) cs(Referer)', 'GET curl/8.5.0 -'),
      { method: 'cs-method', agent: 'cs(User-Agent)', referrer: 'cs(Referer)' },
    ],
    ['without values', w3c('cs-method sc-status', '- -'), { status: 'sc-status', method: 'cs-method' }],
    [
      'with words as paths',
      w3c('cs-method cs-uri-stem sc-status', 'GET house 200', 'GET / 200', 'GET home 200'),
      { status: 'sc-status', method: 'cs-method' },
    ],
    [
      'of FTP, which has no requests',
      w3c('cs-method cs-uri-stem sc-status', '[2]USER anonymous 331', '[2]PASS - 230', '[2]sent /a.c 226'),
      {},
    ],
  ])('of a W3C log %s', (_, fields, expected) => {
    expect(fields).toEqual(expected)
  })

  it('of a load balancer of AWS, whose target is a server', () => {
    const line = `https 2026-07-01T12:00:00.123456Z app/web/1 ${IP}:51234 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET https://example.com:443/ HTTP/1.1" "curl/8.5.0" TLS_AES_128_GCM_SHA256 TLSv1.3 arn:aws:elasticloadbalancing:eu-west-1:1:targetgroup/web/1`
    expect(fieldsOf(`${line}\n`)).toEqual({
      status: 'elb_status_code',
      method: 'method',
      agent: 'user_agent',
      path: 'request_target',
      bytes: 'sent_bytes',
    })
  })

  it.each([
    [
      '$client_ip [$time_iso8601] "$request" $status',
      `${IP} [2026-07-01T12:00:00Z] "GET / HTTP/1.1" 200`,
      'target',
    ],
    ['$client_ip [$time_iso8601] $target $status', `${IP} [2026-07-01T12:00:00Z] 10.0.0.1:80 200`, undefined],
  ])('of a log in the form %s', (logFormat, line, path) => {
    expect(reportFields(makePlan(wholeSample(`${line}\n`), { logFormat }).plan).path).toBe(path)
  })

  it('of a log of Zeek', () => {
    const names = ['ts', 'id.orig_h', 'method', 'uri', 'response_body_len', 'status_code']
    const lines = [
      '#separator \\x09',
      `#fields\t${names.join('\t')}`,
      '#types\ttime\taddr\tstring\tstring\tcount\tcount',
    ]
    expect(
      fieldsOf(
        [...lines, `1782907200.5\t${IP}\tGET\t/\t5\t200`, `1782907201.5\t${IP}\t-\t-\t0\t-`, ''].join('\n'),
      ),
    ).toEqual({
      status: 'status_code',
      method: 'method',
      path: 'uri',
      bytes: 'response_body_len',
    })
  })

  it.each([
    ['a status alone', [{ ip: IP, status: 200, size: 5 }]],
    [
      'a status and a method apart',
      [
        { ip: IP, status: 200 },
        { ip: IP, request_method: 'GET' },
      ],
    ],
    ['a word as status', [{ ip: IP, status: 'active', request_method: 'GET' }]],
    ['a method of payment', [{ ip: IP, status: 200, method: 'credit card', target: '/' }]],
    [
      'a status that is none in one record',
      [
        { ip: IP, status: 200, request_method: 'GET' },
        { ip: IP, status: 12345, request_method: 'GET' },
      ],
    ],
    ['a status in another object', [{ ip: IP, order: { status: 200, request_method: 'GET' } }]],
    ['a list as method', [{ ip: IP, status: 200, request_method: ['GET'] }]],
  ] as const)('are none: %s', (_, objects) => {
    expect(fieldsOfObjects(...objects)).toEqual({})
  })

  it('leave out a path and a size that do not look like one', () => {
    const object = { ip: IP, status: 200, method: 'GET', target: 'house', bytes: 'many' }
    expect(fieldsOfObjects(object)).toEqual({ status: 'status', method: 'method' })
    const table = `ip,method,status,status\n${IP},GET,200,404\n`
    expect(fieldsOf(table)).toEqual({})
  })
})
