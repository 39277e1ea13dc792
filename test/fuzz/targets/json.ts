import assert from 'node:assert/strict'
import fc from 'fast-check'
import { damaged, jsonString, jsonValue, objectOf } from '../../enrich/formats/ndjson/json-arbitraries.ts'
import { type EnrichInput, enriched, enrichInputs, ips } from '../enrich-input.ts'
import type { Target } from '../target.ts'

const value = fc.oneof(
  jsonValue,
  ips.map((ip) => JSON.stringify(ip)),
  fc.constantFrom('"]}"', '"\\""', '{"Records":[{}]}', '[{"ip":"81.2.69.142"}]'),
)
const object = objectOf(fc.oneof(fc.constantFrom('"ip"', '"ip"', '"Records"'), jsonString()), value)
const element = fc.oneof({ weight: 8, arbitrary: object }, { weight: 1, arbitrary: value })
const blank = fc.constantFrom('', '', ' ', '\n', '\r\n  ')
const elements = fc
  .array(fc.tuple(blank, element, blank), { maxLength: 5 })
  .map((all) => all.map((each) => each.join('')).join(','))
const first = '{"ip":"81.2.69.142"}'
const array = elements.map((all) => `[${first},${all === '' ? first : all}]`)
const documents = fc.oneof(
  array,
  fc
    .tuple(
      fc.array(fc.tuple(jsonString(), value), { maxLength: 2 }),
      blank,
      array,
      fc.array(value, { maxLength: 1 }),
    )
    .map(
      ([before, space, all, after]) =>
        `{${before.map(([name, each]) => `${name}:${each},`).join(space)}"Records":${space}${all}${after.map((each) => `,"z":${each}`).join('')}}`,
    ),
  fc
    .array(fc.tuple(object, blank), { minLength: 1, maxLength: 4 })
    .map((all) => `{\n${first.slice(1)}${all.map((each) => each.join('')).join('')}`),
)
const texts = fc
  .tuple(
    fc.constantFrom('', '', '\ufeff', '\n'),
    fc.array(fc.oneof({ weight: 3, arbitrary: documents }, damaged(documents)), {
      minLength: 1,
      maxLength: 2,
    }),
    blank,
  )
  .map(([start, all, end]) => start + all.join(end) + end)

/** The name of the member that is added, which inputs do not have. */
const INTO = 'place of it'
const ADDED = /,?\s*"place of it": ?(?:null|\{"ip":".*?"offset":(?:null|"[^"]*")\}\})/g

const options = fc.record(
  {
    format: fc.constant('json' as const),
    field: fc.constant('ip'),
    force: fc.constant(true),
    into: fc.constant(INTO),
    to: fc.constant('ndjson' as const),
  },
  { requiredKeys: ['format', 'field', 'force', 'into'] },
)

/** Documents keep their bytes. What was JSON still is, and each object of the array has a location, also on a line of its own. */
export const json: Target<EnrichInput> = {
  name: 'json',
  formats: ['json'],
  inputs: enrichInputs(texts, options),
  shortRuns: 400,
  check(input) {
    const run = enriched(input)
    if (run === null || !('isSplit' in run.plan)) return
    const { array, isSplit, maxLineBytes } = run.plan
    const before = Buffer.from(input.bytes).toString('latin1')
    const after = Buffer.from(run.output).toString('latin1')
    const parsed = parsedJson(input.bytes)
    if (isSplit) {
      const lines = after.split('\n').slice(0, -1)
      assert.equal(lines.length, run.counts.lines - run.counts.blank)
      const objects = lines.map((line): object =>
        JSON.parse(Buffer.from(line.replace(ADDED, ''), 'latin1').toString()),
      )
      if (run.counts.bad === 0 && array?.length === 0 && Array.isArray(parsed))
        assert.deepEqual(objects, parsed)
      return
    }
    assert.equal(after.replace(ADDED, ''), before, 'bytes are lost')
    if (parsed === undefined) return
    assert.notEqual(parsedJson(run.output), undefined, 'a document is no JSON any more')
    if (maxLineBytes < input.bytes.length || array === null || array.length > 0) return
    const objects = Array.isArray(parsed) ? parsed.filter(isObject).length : 1
    assert.equal(
      after.match(ADDED)?.length ?? 0,
      objects,
      'an object has no location, or one that is not its own',
    )
  },
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `undefined` if it is not one JSON document. */
function parsedJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}
