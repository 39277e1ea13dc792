import { describe, expect, it } from 'vitest'
import { looksLikeAccessLog, planAccessLog } from '../../../src/enrich/access-log/plan.ts'
import { utf8 } from '../in-memory-run.ts'

const LINE = '81.2.69.142 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 2326'

describe('looksLikeAccessLog', () => {
  it.each([
    [`${LINE}\n`, true],
    [`\ufeff${LINE}\r\n\r\n${LINE}\r\n`, true],
    [LINE, true],
    [`${LINE}\n${LINE}\nnonsense\n${LINE.slice(0, 20)}`, true],
    [`${LINE}\nnonsense\nnonsense\n`, false],
    ['', false],
    ['\n\n', false],
    ['ip,time\n1.2.3.4,5\n', false],
    ['{"ip":"1.2.3.4"}\n', false],
    ['1.2.3.4\n', false],
  ])('%j: %s', (sample, expected) => {
    expect(looksLikeAccessLog(utf8(sample))).toBe(expected)
  })
})

describe('planAccessLog', () => {
  const sample = utf8(`${LINE}\n`)

  it('is plain data', () => {
    const { plan } = planAccessLog(sample, true, { at: 5, append: true })
    expect(structuredClone(plan)).toEqual(plan)
    expect(plan).toMatchObject({
      format: 'access-log',
      hasVhost: false,
      hasForwarded: false,
      append: true,
      at: 5,
    })
  })

  it('plans for lines that are none, which the run will report', () => {
    expect(planAccessLog(utf8(''), true, {}).plan.hasVhost).toBe(false)
    expect(planAccessLog(utf8('nonsense\n'), true, {}).plan.hasVhost).toBe(false)
  })

  it.each([
    [{ field: 'client' }, 'ENRICH_FIELD_UNKNOWN'],
    [{ field: '1' }, 'ENRICH_FIELD_UNKNOWN'],
    [{ field: 'x_forwarded_for' }, 'ENRICH_FIELD_IS_LIST'],
    [{ into: 'ip' }, 'ENRICH_FIELD_EXISTS'],
    [{ into: 'rest', overwrite: true }, 'ENRICH_FIELD_EXISTS'],
    [{ into: 'raw' }, 'ENRICH_FIELD_EXISTS'],
  ])('refuses %j: %s', (options, code) => {
    expect(() => planAccessLog(sample, true, options)).toThrow(expect.objectContaining({ code }))
  })

  it('refuses a field of the time, as lines have one', () => {
    expect(() => planAccessLog(sample, true, { timeField: 'time' })).toThrow(TypeError)
  })

  it('takes any name for the location where lines are kept', () => {
    expect(planAccessLog(sample, true, { into: 'ip', append: true }).plan.append).toBe(true)
  })
})
