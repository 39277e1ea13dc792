import { describe, expect, it } from 'vitest'
import { type EnrichOptions, makePlan } from '../../../../src/enrich/formats/formats.ts'
import { DocumentWalk } from '../../../../src/enrich/formats/json/json-elements.ts'
import { AT, enrichText, located, wholeSample } from '../../world.ts'

const outputOf = (text: string, options: EnrichOptions = {}): string =>
  enrichText(text, { at: AT, ...options })
const codesIn = (output: string): unknown[] =>
  [...output.matchAll(/"location": ?(null|\{"ip":"[^"]+","country":\{"code":"(\w\w)")/g)].map(
    ([, all, code]) => (all === 'null' ? null : code),
  )

describe('the documents', () => {
  const inputs: readonly [string, string, string, unknown[]][] = [
    ['an array in a line', '[{"ip":"81.2.69.142"}, {"ip":"10.0.0.1"}]\n', 'an array', ['GB', null]],
    ['an array over lines', '[\n  {\n    "ip": "81.2.69.142"\n  }\n]\n', 'an array', ['GB']],
    ['CloudTrail', '{"Records":[{"sourceIPAddress":"81.2.69.142","n":[]}]}', 'the array "Records"', ['GB']],
    [
      'an array deeper in an object, after others',
      '{"took":1,"none":[{"a":1}],"hits":{"hits":1,"total":[1],"hits":[{"ip":"81.2.69.142","text":"]}\\"]}"},{"ip":null},{"ip":"2001:4860::1","n":"long enough"}]},"hits":[]}',
      'the array "hits.hits"',
      ['GB', null, 'US'],
    ],
    [
      'an array without a comma before it',
      '{"v":1 "Records":[{"ip":"81.2.69.142"}]}{"Records":[{"ip":"10.0.0.1"}]}',
      'the array "Records"',
      ['GB', null],
    ],
    [
      'several files joined',
      '{"Records":[{"ip":"81.2.69.142"}]}{"Records":[]}\n{"Records":[{"ip":"89.160.20.112"},{"ip":"x"}]}\n',
      'the array "Records"',
      ['GB', 'SE', null],
    ],
  ]
  it.each(inputs)('%s', (_, text, where, codes) => {
    const { plan, notes } = makePlan(wholeSample(text), {})
    expect(plan.format).toBe('json')
    expect(notes[1]?.replaceAll('"', '')).toBe(`the objects are in ${where.replaceAll('"', '')}`)
    expect(codesIn(outputOf(text))).toEqual(codes)
    expect(codesIn(outputOf(text, { to: 'ndjson' }))).toEqual(codes)
  })

  it.each([
    ['in a line', '{"ip":"81.2.69.142"}{"ip":"10.0.0.1"}'],
    ['over lines', '{\n"ip":"81.2.69.142"}\r\n\r\n{\r\n"ip":"10.0.0.1"\r\n}\r\n'],
    ['of a sequence (RFC 7464)', '\u001e{"ip":\n"81.2.69.142"}\n\u001e{"ip":\n"10.0.0.1"}\n'],
  ])('objects %s', (_, text) => {
    expect(makePlan(wholeSample(text), {}).plan).toMatchObject({ format: 'json', array: null })
    expect(codesIn(outputOf(text))).toEqual(['GB', null])
  })

  it.each(
    Object.entries({
      'objects in lines': '{"ip":"81.2.69.142"}\n{"ip":"10.0.0.1"}\n',
      'one object': '{"ip":"81.2.69.142"}',
      'an object that has others in an array':
        '{"ip":"81.2.69.142","via":[{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}]}',
      'an object with a short array': `{"text":"${'x'.repeat(100)}","via":[{"ip":"10.0.0.1"}],"ip":"1.1.1.1"}`,
    }),
  )('not %s', (_, text) => {
    expect(makePlan(wholeSample(text), {}).plan.format).toBe('ndjson')
  })

  it('not the objects of an array in objects whose member is named', () => {
    const text = '{"via":[{"ip":"81.2.69.142"},{"ip":"10.0.0.1"}]}\n'.repeat(2)
    expect(makePlan(wholeSample(text), {}).plan).toMatchObject({ format: 'json', array: ['via'] })
    expect(makePlan(wholeSample(text), { field: 'via.0.ip' }).plan.format).toBe('ndjson')
  })
})

describe('what is written', () => {
  it('keeps every byte, and lays out the member as the others', () => {
    expect(
      outputOf('{"Records": [\r\n\t{\r\n\t\t"ip": "10.0.0.1", "n": 1e400\r\n\t},{},{ "ip":"10.0.0.1" }]}'),
    ).toBe(
      '{"Records": [\r\n\t{\r\n\t\t"ip": "10.0.0.1", "n": 1e400,\r\n\t\t"location": null\r\n\t},{"location":null},{ "ip":"10.0.0.1", "location": null }]}',
    )
  })

  it('is a line for each object with --to ndjson', () => {
    expect(
      outputOf('[\n  {\n    "a": [\n      1\n    ],\n    "ip": "10.0.0.1"\n  },\n  {}\n]\n', {
        to: 'ndjson',
      }),
    ).toBe('{"a": [1],"ip": "10.0.0.1","location":null}\n{"location":null}\n')
  })

  it('replaces a member with --overwrite, and refuses one otherwise', () => {
    const text = '[{"ip":"10.0.0.1","location":{"old":1} }]'
    expect(outputOf(text, { overwrite: true })).toBe('[{"ip":"10.0.0.1","location":null }]')
    expect(() => outputOf(text)).toThrow(expect.objectContaining({ code: 'ENRICH_FIELD_EXISTS' }))
  })

  it.each([{ onlyFailed: true }, { dropUnresolved: true }, { onBadLine: 'drop' as const }])(
    'is never less than the document: %j',
    (options) => {
      expect(() => makePlan(wholeSample('[{"ip":"10.0.0.1"}]'), options)).toThrow('--to ndjson')
      expect(makePlan(wholeSample('[{"ip":"10.0.0.1"}]'), { ...options, to: 'ndjson' }).plan.format).toBe(
        'json',
      )
    },
  )
})

describe('what cannot be read', () => {
  const inputs: readonly [string, string, number, RegExp][] = [
    ['a number', '[{"ip":"81.2.69.142"},12,{"ip":"81.2.69.142"}]', 1, /not a JSON object/],
    ['an array', '[{"ip":"81.2.69.142"},[{"ip":"81.2.69.142"}]]', 1, /not a JSON object/],
    ['a fault in an object', '[{"ip":"81.2.69.142"},\n{"ip":01}\n]', 2, /not valid JSON: see its byte 8/],
    ['text between', '{"ip":\n"81.2.69.142"} hello\n{"ip":\n"81.2.69.142"}', 2, /not JSON/],
    ['the end of a file that was cut off', '[{"ip":"81.2.69.142"},\n{"ip":"81.2.', 2, /ends too early/],
    [
      'a document without it',
      '{"Records":[{"ip":"81.2.69.142"}]}\n{"error":{"Records":"no"}}',
      2,
      /has no array/,
    ],
    ['a string with a line end', '[{"ip":"81.2.69.142"},\n{"ip":"81.2.\n69"}]', 2, /not valid JSON/],
    [
      'an object that is too long',
      `[{"ip":"81.2.69.142"},{"a":"${'x'.repeat(3000)}"},{"ip":"81.2.69.142"}]`,
      1,
      /longer than 1000/,
    ],
  ]
  it.each(inputs)('%s', (_, text, line, message) => {
    for (const blockBytes of [1, 16, 100_000]) {
      const { output, counts } = located(text, { at: AT, maxLineBytes: 1000 }, blockBytes)
      expect(counts.badLines[0]).toEqual({ line, message: expect.stringMatching(message) })
      const added = /, ?"location": ?\{.*?"offset":"[^"]*"\}\}/g
      expect(output.replaceAll(added, '')).toBe(text)
    }
  })
})

it('keeps no names of deep arrays: hostile input can open any number', () => {
  const walk = new DocumentWalk()
  for (let depth = 0; depth < 1000; depth++) walk.take(0x5b)
  expect([walk.depth, walk.names.length]).toEqual([1000, 7])
})
