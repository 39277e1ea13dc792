import { describe, expect, it } from 'vitest'
import { patternOf } from '../../../../src/enrich/formats/pattern/directive.ts'

/** The pattern as text, with the fields in angle brackets. */
function shown(directive: string): string {
  const { fields, after } = patternOf(directive)
  return `${fields.map(({ before, name }) => `${before}<${name}>`).join('')}${after}`
}

describe('a log format', () => {
  it.each([
    // nginx's own default, and as it stands in nginx.conf.
    ['$remote_addr - $remote_user [$time_local]', '<remote_addr> - <remote_user> [<time_local>]'],
    [
      'log_format main \'$remote_addr "$request" \'\n                \'$status\' "\\"$http_referer\\"";',
      '<remote_addr> "<request>" <status>"<http_referer>"',
    ],
    ['log_format json escape=json \'{"ip":"$remote_addr"}\';', '{"ip":"<remote_addr>"}'],
    // Apache's "common", "combined" and "vhost_combined", and as they stand in httpd.conf.
    ['%h %l %u %t \\"%r\\" %>s %b', '<remote_host> <ident> <user> [<time>] "<request>" <status> <bytes>'],
    [
      'LogFormat "%v:%p %h \\"%{Referer}i\\" \\"%{User-Agent}i\\"" vhost_combined',
      '<vhost>:<port> <remote_host> "<referer>" "<user_agent>"',
    ],
    [
      'CustomLog a.log "%a %{c}a %{X-Forwarded-For}i %D%%"',
      '<client_ip> <peer_ip> <x_forwarded_for> <duration_us>%',
    ],
    ['%{%Y-%m-%dT%H:%M:%S%z}t %!200,304{Referer}i %h', '<time> <referer> <remote_host>'],
    ['$' + '{remote_addr}:$x', '<remote_addr>:<x>'],
    ['%b %B %h', '<bytes> <bytes_2> <remote_host>'],
  ])('%j is %s', (directive, expected) => {
    expect(shown(directive)).toBe(expected)
  })

  it.each([
    ['', 'no fields'],
    ['plain text', 'no fields'],
    ['$remote_addr$status', 'nothing separates "$status" from the field before it'],
    ['%h%u', 'nothing separates "%u"'],
    ['$a '.repeat(201), 'more than 200 fields'],
    ['$a '.repeat(5000), 'at most 10000 characters'],
  ])('cannot be %j', (directive, message) => {
    expect(() => patternOf(directive)).toThrow(TypeError)
    expect(() => patternOf(directive)).toThrow(message)
  })
})
