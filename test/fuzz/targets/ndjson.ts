import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { isLookupFailure, Resolver } from '../../../src/index.ts'
import { damaged, jsonString, jsonValue, objectOf } from '../../enrich/formats/ndjson/json-arbitraries.ts'
import { AT, WORLD } from '../../enrich/world.ts'
import {
  checkKept,
  type EnrichInput,
  enriched,
  enrichInputs,
  ips,
  linesOf,
  physicalLines,
} from '../enrich-input.ts'
import type { Target } from '../target.ts'

const member = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('"ip"', '"ip"', '"a"', '"\\u0069p"', '"IP"', '""', '"__proto__"') },
  { weight: 1, arbitrary: fc.constantFrom('"location"', '"loc\\u0061tion"') },
  { weight: 1, arbitrary: jsonString() },
)
const value = fc.oneof(
  jsonValue,
  ips.map((ip) => JSON.stringify(ip)),
  jsonString(ips),
)
const object = objectOf(member, value)
/** Lines of a template that is kept, and lines almost like them. */
const shaped = fc
  .tuple(
    ips,
    fc.constantFrom('1', '-2.5e3', '01', '1.', '', '"x"', 'null', '"\\"}"'),
    fc.string({ maxLength: 10 }),
  )
  .map(([ip, number, text]) => `{"n":${number},"ip":"${ip}","s":${JSON.stringify(text)}}`)
const deep = fc.tuple(fc.nat(300), fc.constantFrom('{"a":', '['), fc.nat(2)).map(([depth, open, missing]) => {
  const close = (open === '[' ? ']' : '}').repeat(Math.max(0, depth - missing))
  return `{"ip":"81.2.69.142","d":${open.repeat(depth)}1${close}}`
})
const line = fc.oneof(
  { weight: 4, arbitrary: object },
  { weight: 3, arbitrary: shaped },
  { weight: 3, arbitrary: damaged(fc.oneof(object, shaped)) },
  { weight: 1, arbitrary: deep },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      ' ',
      '\t',
      ...'[] null rubbish " {'.split(' '),
      `{"ip":"${'x'.repeat(200)}"}`,
    ),
  },
)
const texts = linesOf(
  fc
    .tuple(
      fc.constantFrom('', '', '\ufeff', '\n', '\r\n'),
      fc.constantFrom('{"ip":"81.2.69.142"}\n', '{"ip":"10.0.0.1","n":1}\r\n', ''),
    )
    .map(([mark, first]) => mark + first),
  line,
  10,
)

const options = fc.record(
  {
    format: fc.constant('ndjson' as const),
    field: fc.constantFrom('ip', 'ip', '/ip', 'a.ip', 'a.0'),
    timeField: fc.constantFrom('n', 's'),
  },
  { requiredKeys: ['format'] },
)

const resolver = Resolver.openSync(WORLD)

export const ndjson: Target<EnrichInput> = {
  name: 'ndjson',
  formats: ['ndjson'],
  inputs: enrichInputs(texts, options),
  shortRuns: 300,
  check(input) {
    const run = enriched(input)
    if (run === null || !('path' in run.plan)) return
    const { plan, output, counts } = run
    checkKept(
      input.bytes,
      output,
      (added, before) => added.startsWith('"location":', before.trimEnd().endsWith('{') ? 0 : 1),
      (content) => content.lastIndexOf('}'),
    )
    const isByMember = plan.path.length === 1 && plan.path[0] === 'ip' && plan.timePath === null
    const after = [...physicalLines(output)]
    let bad = 0
    for (const [index, [content, end]] of [...physicalLines(input.bytes)].entries()) {
      const [now = ''] = after[index] ?? []
      const before = objectIn(content, index === 0)
      // A byte order mark is not a part of the first line.
      const line = index === 0 ? content.replace(/^ï»¿/, '') : content
      // Its line end counts where it is a carriage return.
      const isTooLong = line.length + Number(end.startsWith('\r')) > plan.maxLineBytes
      if (before === null || isTooLong || Object.hasOwn(before, 'location')) {
        assert.equal(now, content, 'a line that cannot be read is changed')
        if (!isBlank(line) || isTooLong) bad++
        continue
      }
      assert.notEqual(now, content, 'a good line has no location')
      const object = objectIn(now, index === 0)
      assert.ok(object !== null, 'the line is no JSON any more')
      const { location, ...others } = object
      assert.ok(isDeepStrictEqual(others, { ...before }), 'other members have changed')
      if (isByMember) assert.deepEqual(location, locationOf(before.ip))
    }
    assert.equal(counts.bad, bad)
  },
}

/** The object on a line of bytes; `null` when it is none. */
function objectIn(line: string, isFirst: boolean): Readonly<Record<string, unknown>> | null {
  const text = new TextDecoder('utf-8', { ignoreBOM: !isFirst }).decode(Buffer.from(line, 'latin1'))
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? { ...parsed } : null
  } catch {
    return null
  }
}

/** As the lines of NDJSON have it: nothing but blanks and control characters. */
function isBlank(line: string): boolean {
  return Buffer.from(line, 'latin1').every((byte) => byte <= 0x20)
}

function locationOf(ip: unknown): unknown {
  if (typeof ip !== 'string') return null
  const [result] = resolver.lookupMany([ip], { at: AT })
  return result === undefined || isLookupFailure(result) ? null : structuredClone(result)
}
