import assert from 'node:assert/strict'
import fc from 'fast-check'
import { Address } from '../../../src/address/address.ts'
import { latin1 } from '../../enrich/world.ts'
import { ALPHABET, type EnrichInput, enriched, enrichInputs, ips, linesOf, piece } from '../enrich-input.ts'
import { mutatedText } from '../mutation.ts'
import type { Target } from '../target.ts'

const opening = fc.constantFrom(
  ...['', '', '<34>Oct 11 22:14:15 ', '<165>1 2003-10-11T22:14:15.003Z ', 'Feb 29 00:00:00 ', '<', '<3', '['],
  ...['2023/10/11 14:32:52 ', '[Wed Oct 11 14:32:52.1 2023] ', '[1697034772.123] '],
  '2026-03-29 02:00:00,123 ',
)
const before = fc.constantFrom(
  ...'= [ (" / // a/ client: a: : :: v @ \u001b[31m - .'.split(' '),
  ...['', ' ', 'version '],
)
const after = fc.constantFrom(
  ...', ] ") :80 ]:80 #53 /24 /443 . ... .5 - -> :x %eth0 \\n \u001b[0m'.split(' '),
  ...['', ' '],
)
const token = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(before, ips, after).map((parts) => parts.join('')) },
  fc.constantFrom(...'10:20:30 00:1a:2b:3c:4d:5e std::cout a::b 1.2.3.4.5 2001: 0: ... :::'.split(' ')),
  piece,
)
const line = fc
  .tuple(opening, fc.array(token, { maxLength: 6 }), fc.constantFrom(' ', ''))
  .map(([time, tokens, separator]) => time + tokens.join(separator))
const texts = linesOf(fc.constantFrom('', '\ufeff'), fc.oneof(line, mutatedText(line, ALPHABET)))

/** What stands before and after a place, so that it can be taken out again: no input has these characters. */
const MARKS = ['\u2983', '\u2984'] as const
const options = fc.oneof(
  fc.record({
    format: fc.constant('text' as const),
    annotate: fc.constantFrom(
      `{ip}${MARKS[0]}{country_code} {city}${MARKS[1]}`,
      `{ip}${MARKS[0]}{timezone_offset}, {city}${MARKS[1]}`,
      `${MARKS[0]}{city}${MARKS[1]}{ip}`,
    ),
  }),
  fc.record({
    format: fc.constant('text' as const),
    to: fc.constant('ndjson' as const),
    nth: fc.constantFrom(undefined, 1, 2),
  }),
  fc.record({ format: fc.constant('text' as const), append: fc.constant(true) }),
)

/** Text: the lines without their places are those of the input, and what an object names is an address of its line. */
export const text: Target<EnrichInput> = {
  name: 'text',
  formats: ['text'],
  inputs: enrichInputs(texts, options),
  shortRuns: 300,
  check(input) {
    const run = enriched(input)
    if (run?.plan.format !== 'text') return
    const { plan, output, counts } = run
    if (plan.annotate !== null) {
      const mark = (index: 0 | 1): string => Buffer.from(MARKS[index]).toString('latin1')
      const places = new RegExp(`${mark(0)}[^\\x00-\\x1f\\x7f]*?${mark(1)}`, 'g')
      assert.equal(latin1(output).replaceAll(places, ''), latin1(input.bytes))
    } else if (!plan.append) {
      const objects = new TextDecoder().decode(output).split('\n').slice(0, -1)
      assert.equal(objects.length, counts.lines - counts.blank)
      for (const object of objects) {
        const { raw, ip } = JSON.parse(object)
        if (typeof ip === 'string') assert.ok(raw.includes(ip) && new Address().parse(ip), object)
      }
    }
  },
}
