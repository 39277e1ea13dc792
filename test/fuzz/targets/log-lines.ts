import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  ALPHABET,
  checkKept,
  type EnrichInput,
  enriched,
  enrichInputs,
  ips,
  linesOf,
  piece,
} from '../enrich-input.ts'
import { mutatedText } from '../mutation.ts'
import type { Target } from '../target.ts'

const part = fc.array(fc.oneof(piece, fc.constantFrom('\\"', '\\x16', 'a', 'GET / HTTP/1.1')), {
  maxLength: 4,
})
const quoted = fc.oneof(
  fc.constantFrom('"GET / HTTP/1.1"', '"-"', '"GET /"', '""', '"POST /a b HTTP/2.0"', '"\\x16\\x03"', '"'),
  part.map((parts) => `"${parts.join('')}"`),
)
const time = fc.constantFrom(
  ...'[10/Oct/2000:13:55:36 -0700] | [10/Oct/2000:13:55:36] | [2026-07-28T06:25:24+02:00] | [-] | [ | '.split(
    ' | ',
  ),
  ...['[29/Feb/2023:00:00:00 +0000]', '[31/Dec/9999:23:59:60 +1400]', '[2026-07-28T06:25:24.123456789Z]'],
)
const access = fc
  .tuple(
    fc.oneof({ weight: 5, arbitrary: ips }, fc.constantFrom('a.example:443 81.2.69.142', '::1, 81.2.69.142')),
    fc.constantFrom('- -', '- frank', '-', '- ', '10.0.0.1 -'),
    time,
    quoted,
    fc.constantFrom('200 1', '000 -', '200', '20 1', '200 99999999999999999999', '304 0'),
    fc.oneof(
      fc.constant(''),
      fc.tuple(quoted, quoted).map((both) => ` ${both.join(' ')}`),
    ),
    fc.oneof(
      fc.constantFrom('', '', ' 0.004', ' "x"'),
      fc.tuple(ips, ips).map((both) => ` "${both.join(', ')}"`),
    ),
  )
  .map(
    ([host, ident, at, request, status, agent, rest]) =>
      `${host} ${ident} ${at} ${request} ${status}${agent}${rest}`,
  )
const listed = fc.oneof(
  ips,
  fc
    .tuple(fc.constantFrom(' ', '\t', '#', '# ', ''), ips, fc.constantFrom(' ', '\r', ' # x', ''))
    .map((all) => all.join('')),
)
const written = fc.oneof(
  fc
    .tuple(ips, fc.constantFrom('TCP_MISS/304', 'x', '-'), fc.constantFrom('GET', '-'), piece)
    .map(
      ([ip, result, method, text]) =>
        `1782864010.250   3 ${ip} ${result} 1 ${method} ${text} - DIRECT/10.0.0.1 -`,
    ),
  fc
    .tuple(ips, time, quoted, quoted)
    .map(
      (each) => `79a5 b ${each[1]} ${each[0]} - 3E REST.GET - ${each[2]} 200 - 1 - 7 - "-" ${each[3]} - x`,
    ),
  fc.tuple(ips, quoted, piece).map((each) => each.join(' ')),
)
const line = fc.oneof(
  { weight: 3, arbitrary: written },
  { weight: 4, arbitrary: access },
  { weight: 3, arbitrary: listed },
  { weight: 3, arbitrary: mutatedText(fc.oneof(access, listed, written), ALPHABET) },
  { weight: 1, arbitrary: fc.constantFrom('', ' ', '#', 'rubbish', 'x'.repeat(300)) },
)
const texts = linesOf(fc.constantFrom('', '\ufeff', '\n'), line)

const FORMATS = ['access-log', 'list', 'squid', 'aws-elb', 'aws-alb', 'aws-s3', 'custom-log'] as const
const options = fc
  .record(
    {
      format: fc.constantFrom('access-log' as const, ...FORMATS),
      append: fc.boolean(),
      fields: fc.constantFrom(['city'] as const, ['timezone_offset', 'postal_code', 'country_name'] as const),
      trustedProxies: fc.constant(['10.0.0.0/8']),
      field: fc.constant('x_forwarded_for'),
      into: fc.constantFrom('location', 'geo "x"'),
    },
    { requiredKeys: ['format'] },
  )
  .map((given) => (given.format === 'custom-log' ? { ...given, logFormat: '$remote_addr "$x" $y' } : given))
  // Columns are only for lines that are kept.
  .map(({ fields, ...others }) => (others.append === true ? { ...others, fields } : others))

/** Access logs, lines that are written by a pattern, and lists of addresses, which become NDJSON or are kept with a tab and the location. */
export const logLines: Target<EnrichInput> = {
  name: 'log-lines',
  formats: FORMATS,
  inputs: enrichInputs(texts, options),
  shortRuns: 300,
  check(input) {
    const run = enriched(input)
    if (run === null || !('append' in run.plan)) return
    const { plan, output, counts } = run
    const isLocation = (text: string): boolean => {
      const value: unknown = JSON.parse(Buffer.from(text, 'latin1').toString())
      return value === null || (typeof value === 'object' && 'timezone' in value)
    }
    if (plan.append) {
      checkKept(input.bytes, output, (added) =>
        plan.fields === null
          ? added.startsWith('\t') && isLocation(added.slice(1))
          : added.startsWith('\t') && added.split('\t').length === plan.fields.length + 1,
      )
      return
    }
    // Blank lines go; all others become objects, bad ones too.
    const lines =
      Buffer.from(output)
        .toString()
        .match(/[^\n]*\n|[^\n]+$/g) ?? []
    assert.equal(lines.length, counts.lines - counts.blank)
    const objects = lines.filter((text) => isObjectWith(text, plan.into))
    assert.equal(objects.length, lines.length)
    assert.equal(objects.filter((text) => isObjectWith(text, 'raw')).length, counts.bad)
    const located = objects.filter((text) => JSON.parse(text)[plan.into] !== null)
    assert.equal(located.length, counts.resolved)
  },
}

function isObjectWith(text: string, name: string): boolean {
  if (!text.startsWith('{"')) return false
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
  } catch {
    return false
  }
}
