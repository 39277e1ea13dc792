// Logs whose lines are written by a pattern: of known programs, and by a directive of the user.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkOptions, type EnrichOptions, type Format } from '../../../../src/enrich/formats/formats.ts'
import { enrichBytes, text, utf8 } from '../../world.ts'

function located(input: string, options: EnrichOptions = {}) {
  const run = enrichBytes(utf8(input), options)
  return { ...run, output: text(run.output) }
}
const objectsOf = (output: string): unknown[] =>
  output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

/** From the documentation of each program, with an address that the small database has. */
const KNOWN: readonly [Format, string, Readonly<Record<string, unknown>>, offset: string][] = [
  [
    'squid',
    '1066036250.603    310 81.2.69.142 TCP_MISS/304 297 GET http://example.com/x.gif - DIRECT/192.0.2.9 text/html',
    { elapsed: '310', status: 304, bytes: 297, user: null, peer: '192.0.2.9', content_type: 'text/html' },
    '+01:00',
  ],
  [
    'aws-elb',
    '2015-05-13T23:39:43.945958Z my-lb 81.2.69.142:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://www.example.com:80/ HTTP/1.1" "curl/7.38.0" - -',
    { client_ip: '81.2.69.142:2817', elb_status_code: 200, ssl_cipher: null, ssl_protocol: null },
    '+01:00',
  ],
  [
    'aws-alb',
    'http 2018-12-02T22:23:00.186641Z app/my-lb/50dc6c495c0c9188 81.2.69.142:2817 - 0.000 0.001 0.000 502 - 34 366 "GET http://www.example.com:80/ HTTP/1.1" "curl/7.46.0" - - arn:aws:x "Root=1-58337364" "-" "-" 0 2018-11-30T22:22:48.364000Z "forward" "-" "-" "-" "-" "-" "-" TID_12',
    {
      target: null,
      target_status_code: null,
      sent_bytes: 366,
      rest: expect.stringMatching(/^"Root.* TID_12$/),
    },
    '+00:00',
  ],
  [
    'aws-s3',
    '79a5 bucket1 [06/Feb/2019:00:00:38 +0000] 81.2.69.142 79a5 3E57427F3EXAMPLE REST.GET.VERSIONING - "GET /bucket1?versioning HTTP/1.1" 200 - 113 - 7 - "-" "S3Console/0.4" - s9lz= SigV4',
    { key: null, status: 200, bytes_sent: 113, user_agent: 'S3Console/0.4', rest: 's9lz= SigV4' },
    '+00:00',
  ],
]

describe.each(KNOWN)('lines of %s', (format, line, fields, offset) => {
  it('are told by themselves, and become objects', () => {
    const { output, plan, counts } = located(`${line}\n`)
    expect(plan.format).toBe(format)
    expect(counts).toMatchObject({ lines: 1, resolved: 1, bad: 0 })
    expect(objectsOf(output)).toMatchObject([
      { ...fields, location: { city: 'London', timezone: { offset } } },
    ])
  })

  it('can be kept', () => {
    expect(located(`${line}\r\n`, { append: true, fields: ['city'] }).output).toBe(`${line}\tLondon\r\n`)
  })

  it('are bad lines if they are cut off', () => {
    const { counts } = located(`${line}\n${line.slice(0, line.length / 3)}\n`, { format })
    expect(counts).toMatchObject({ resolved: 1, bad: 1 })
  })
})

describe('lines of S3', () => {
  it('have a dash without quotes where a request is missing', () => {
    const line = '79a5 b [06/Feb/2019:00:00:38 +0000] - - 891CE47 S3.EXPIRE.OBJECT a.txt - - - - 7 - - - - -'
    const [object] = objectsOf(located(`${line}\n`, { format: 'aws-s3', force: true }).output)
    expect(object).toMatchObject({
      client_ip: null,
      key: 'a.txt',
      request: null,
      object_size: 7,
      user_agent: null,
      location: null,
    })
  })
})

describe('the option logFormat', () => {
  const NGINX =
    '$remote_addr - $remote_user [$time_local] "$request" $status "$http_user_agent" "$http_x_forwarded_for"'
  const LINE =
    '10.0.0.1 - a b [10/Jul/2026:13:55:36 +0000] "GET /\\"x\\" HTTP/1.1" 200 "say \\"hi\\"" "81.2.69.142, 10.0.0.2"'

  it('says which fields a line has', () => {
    const { output, plan } = located(`${LINE}\nrubbish\n`, { logFormat: NGINX })
    expect(plan.format).toBe('custom-log')
    expect(objectsOf(output)).toEqual([
      {
        remote_addr: '10.0.0.1',
        remote_user: 'a b',
        time_local: '10/Jul/2026:13:55:36 +0000',
        request: 'GET /\\"x\\" HTTP/1.1',
        status: 200,
        http_user_agent: 'say \\"hi\\"',
        http_x_forwarded_for: '81.2.69.142, 10.0.0.2',
        location: null,
      },
      { raw: 'rubbish', location: null },
    ])
  })

  it('gives the list of a trusted proxy', () => {
    const options: EnrichOptions = {
      logFormat: NGINX,
      trustedProxies: ['uniquelocal'],
      append: true,
      fields: ['city', 'timezone_offset'],
    }
    expect(located(`${LINE}\n`, options).output).toBe(`${LINE}\tLondon\t+01:00\n`)
    expect(() => located(`${LINE}\n`, { logFormat: NGINX, field: 'http_x_forwarded_for' })).toThrow('--trust')
  })

  it.each([
    [{ logFormat: '$status $request' }, 'no field with a usual name'],
    [{ logFormat: NGINX, format: 'csv' }, '"logFormat" is for custom-log, not for csv'],
    [{ logFormat: NGINX, into: 'status' }, 'already'],
    [{ logFormat: NGINX, field: 'x' }, 'there is no field "x"'],
    [{ format: 'custom-log' }, '"logFormat" must be given'],
  ] as [EnrichOptions, string][])('%j: %s', (options, message) => {
    expect(() => {
      checkOptions(options)
      located(`${LINE}\n`, options)
    }).toThrow(message)
  })

  it('gives each field its text, whatever the pattern is', () => {
    const name = fc.constantFrom('remote_addr', 'a', 'b', 'c', 'd', 'e')
    const separator = fc.constantFrom(' ', ' - ', '|', '] [', ' "', '" "', '" ', 'x')
    const value = fc.constantFrom('81.2.69.142', '10.0.0.1', '-', '', 'GET', '1.5', 'é')
    const fields = fc.array(fc.tuple(separator, name, value), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(fields, separator, fc.integer({ min: 1, max: 60 }), (parts, after, blockBytes) => {
        const names = new Set(parts.map(([, each]) => each))
        fc.pre(names.size === parts.length && names.has('remote_addr'))
        const directive = parts.map(([before, each]) => `${before}\${${each}}`).join('') + after
        const line = parts.map(([before, , text]) => before + text).join('') + after
        // A quote that opens no quoted field is text, and a value must not hold what ends it: no value here does.
        const options = { logFormat: directive, field: 'remote_addr', force: true } as const
        const { output, counts } = enrichBytes(utf8(`${line}\n`), options, blockBytes)
        expect(counts.bad).toBe(0)
        const object = JSON.parse(text(output))
        for (const [, each, expected] of parts) {
          expect(object[each]).toBe(expected === '' || expected === '-' ? null : expected)
        }
      }),
    )
  })
})

it('takes the time of the server before that of a header field, which any client can write', () => {
  const { output } = located('81.2.69.142 1600000000 [10/Jan/2026:13:55:36 +0000]\n', {
    logFormat: '%h %{Timestamp}i %t',
    fields: ['timezone_offset'],
    append: true,
  })
  expect(output).toMatch(/\t\+00:00\n$/)
})
