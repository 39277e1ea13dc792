// Logs whose lines are written by a pattern: of known programs, and by a directive of the user.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkOptions, type EnrichOptions } from '../../../../src/enrich/formats/formats.ts'
import { located } from '../../world.ts'

describe('the option logFormat', () => {
  const NGINX =
    '$remote_addr - $remote_user [$time_local] "$request" $status "$http_user_agent" "$http_x_forwarded_for"'
  const LINE =
    '10.0.0.1 - a b [10/Jul/2026:13:55:36 +0000] "GET /\\"x\\" HTTP/1.1" 200 "say \\"hi\\"" "81.2.69.142, 10.0.0.2"'

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
    [{ logFormat: '$status $request' }, 'no field has a usual name'],
    [{ logFormat: '[$a] $b' }, 'none of the first lines fits the log format'],
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
        const { output, counts } = located(`${line}\n`, options, blockBytes)
        expect(counts.bad).toBe(0)
        const object = JSON.parse(output)
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
