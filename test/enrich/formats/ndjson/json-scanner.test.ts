import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { braceBefore, JsonScanner } from '../../../../src/enrich/formats/ndjson/json-scanner.ts'
import {
  findMembers,
  MemberPath,
  NOWHERE,
  valueAt,
} from '../../../../src/enrich/formats/ndjson/member-path.ts'
import { viewOf } from '../../../../src/enrich/swar.ts'
import { tableOf } from '../../../table-of.ts'
import { text, utf8 } from '../../world.ts'
import { damaged, jsonString, jsonValue, objectOf } from './json-arbitraries.ts'

/** What the scanner says about a line in the middle of others. */
function scan(line: Uint8Array, names: readonly string[], member = 'location') {
  const before = utf8('{"ip":"1.2.3.4"}\n')
  const bytes = new Uint8Array(before.length + line.length + 20).fill(0x22)
  bytes.set(before)
  bytes.set(line, before.length)
  const [start, end] = [before.length, before.length + line.length]
  bytes[end] = 0x0a
  const path = new MemberPath(names)
  const into = new MemberPath([member])
  const scanner = new JsonScanner()
  const view = viewOf(bytes)
  const isValid = scanner.scan(bytes, view, start, end)
  if (isValid) findMembers([path, into], bytes, view, scanner.start, end)
  const found = (each: MemberPath): string | undefined =>
    each.start === NOWHERE ? undefined : text(bytes.subarray(each.start, each.end))
  return {
    isValid,
    fault: scanner.fault,
    brace: isValid ? braceBefore(bytes, end) - start : -1,
    value: found(path),
    member: found(into),
  }
}

/** The same by the platform. */
function parse(line: Uint8Array): unknown {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { ignoreBOM: true }).decode(line))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Few names, so that they come twice and in each other. */
const names = fc.constantFrom('a', 'b', 'ip', '', '0', '1', 'é', '__proto__')
const object = objectOf(
  fc.oneof(
    names.map((name) => JSON.stringify(name)),
    jsonString(names),
  ),
  fc.oneof(jsonValue, objectOf(jsonString(names), jsonValue), fc.constant('[{"ip":1},{"ip":2}]')),
)
const path = fc.array(names, { minLength: 1, maxLength: 3 })

describe('the scanner', () => {
  it('agrees with JSON.parse about objects and what is in them', () => {
    fc.assert(
      fc.property(object, path, names, (line, way, member) => {
        const whole = parse(utf8(line))
        fc.pre(whole !== undefined)
        const scanned = scan(utf8(line), way, member)
        expect(scanned.isValid).toBe(true)
        expect(scanned.value === undefined ? undefined : JSON.parse(scanned.value)).toEqual(
          valueAt(whole, way),
        )
        expect(scanned.member === undefined ? undefined : JSON.parse(scanned.member)).toEqual(
          valueAt(whole, [member]),
        )
        expect(text(utf8(line).subarray(scanned.brace)).trim()).toBe('}')
      }),
      { numRuns: 1000 },
    )
  })

  it('agrees with JSON.parse on what is not JSON', () => {
    fc.assert(
      fc.property(fc.oneof(damaged(object), damaged(jsonValue), damaged(damaged(object))), (line) => {
        expect(scan(utf8(line), ['ip']).isValid).toBe(parse(utf8(line)) !== undefined)
      }),
      { numRuns: 2000 },
    )
  })

  it('agrees with JSON.parse of decoded text about bytes that are no UTF-8', () => {
    const bytes = fc
      .tuple(object, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 3 }))
      .map(([line, place, foreign]) => {
        const whole = utf8(line)
        const at = place % (whole.length + 1)
        return Uint8Array.from([
          ...whole.subarray(0, at),
          ...foreign.filter((byte) => byte !== 0x0a),
          ...whole.subarray(at),
        ])
      })
    fc.assert(
      fc.property(bytes, (line) => {
        expect(scan(line, ['ip']).isValid).toBe(parse(line) !== undefined)
      }),
      { numRuns: 1000 },
    )
  })

  it.each([
    ...tableOf(import.meta.dirname, 'not-json.tsv'),
    ['{"a":"\t"}', 'a control character'],
    ['\ufeff{"a":1}', 'a byte order mark'],
    ['\u00a0{"a":1}', 'white space of another kind'],
  ])('refuses %s: %s', (line) => {
    expect(parse(utf8(line))).toBeUndefined()
    const { isValid, fault } = scan(utf8(line), ['a'])
    expect(isValid).toBe(false)
    expect(fault).toMatch(/^it is not (a JSON object|valid JSON: (it ends too early|see its byte \d+))$/)
  })

  it('says where a line stops being JSON', () => {
    expect(scan(utf8('{"a":01}'), ['a']).fault).toBe('it is not valid JSON: see its byte 7')
    expect(scan(utf8('{"a":"b'), ['a']).fault).toBe('it is not valid JSON: it ends too early')
  })

  it.each(['[', '{"a":'])('reads a hundred thousand levels of %s without a stack', (opening) => {
    const closing = opening === '[' ? ']' : '}'
    const levels = 100_000
    const line = `{"ip":"1.1.1.1","x":${opening.repeat(levels)}1${closing.repeat(levels)},"b":2}`
    expect(scan(utf8(line), ['b'])).toMatchObject({ isValid: true, value: '2' })
    expect(scan(utf8(line.replace('1]', '1}').replace('1}}', '1]}')), ['b']).isValid).toBe(false)
  })

  it('takes the last of members with the same name, and only its content', () => {
    expect(scan(utf8('{"ip":"1","ip":"2"}'), ['ip']).value).toBe('"2"')
    expect(scan(utf8('{"c":{"ip":"1"},"c":{}}'), ['c', 'ip']).value).toBeUndefined()
    expect(scan(utf8('{"c":{"ip":"1"},"c":7}'), ['c', 'ip']).value).toBeUndefined()
    expect(scan(utf8('{"c":7,"c":{"ip":"1"}}'), ['c', 'ip']).value).toBe('"1"')
    expect(scan(utf8('{"\\u0069p":"1"}'), ['ip']).value).toBe('"1"')
  })
})
