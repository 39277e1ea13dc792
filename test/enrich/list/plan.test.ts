import { describe, expect, it } from 'vitest'
import { looksLikeList, planList } from '../../../src/enrich/list/plan.ts'
import { utf8 } from '../in-memory-run.ts'

describe('looksLikeList', () => {
  it.each([
    ['81.2.69.142\n2001:db8::1\n', true],
    ['81.2.69.142', true],
    ['\ufeff 81.2.69.142 \r\n', true],
    ['# a comment\n\n81.2.69.142\n', true],
    ['81.2.69.142\nnonsense\n9.9.9.9\n', true],
    ['', true],
    ['\n\n', true],
    ['ip\n81.2.69.142\n9.9.9.9\n', false],
    ['81.2.69.142\nnonsense\nmore\n', false],
    ['81.2.69.142,5\n', false],
    ['hello\n', false],
  ])('%j: %s', (sample, expected) => {
    expect(looksLikeList(utf8(sample))).toBe(expected)
  })
})

describe('planList', () => {
  it('is plain data', () => {
    const { plan, notes } = planList(utf8('1.2.3.4'), true, { append: true })
    expect(structuredClone(plan)).toEqual(plan)
    expect(plan).toMatchObject({ format: 'list', append: true })
    expect(notes).toEqual([])
  })

  it.each([
    [{ field: 'ip' }, 'ENRICH_FIELD_UNKNOWN'],
    [{ timeField: 'time' }, 'ENRICH_FIELD_UNKNOWN'],
    [{ into: 'ip' }, 'ENRICH_FIELD_EXISTS'],
    [{ into: 'raw' }, 'ENRICH_FIELD_EXISTS'],
  ])('refuses %j: %s', (options, code) => {
    expect(() => planList(utf8('1.2.3.4'), true, options)).toThrow(expect.objectContaining({ code }))
  })
})
