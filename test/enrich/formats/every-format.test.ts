import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  definitionOf,
  FORMAT_DEFINITIONS,
  FORMATS,
  layoutOf,
  makePlan,
} from '../../../src/enrich/formats/formats.ts'
import { effort } from '../../effort.ts'
import { TARGETS } from '../../fuzz/targets.ts'
import { CASES, ROWS } from '../golden/cases.ts'
import { AT, enrichBytes, utf8 } from '../world.ts'

const folder = join(import.meta.dirname, '..', '..', '..')
const golden = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(join(folder, 'test/enrich/golden', name)))

/** The golden inputs of each format, with the options of their case. */
const goldenInputs = CASES.map(([input, options]) => {
  const bytes = golden(input)
  const { plan } = makePlan(bytes, true, options)
  return { format: plan.format, plan, bytes, options: { at: AT, ...options } }
})

const guide = readFileSync(join(folder, 'src/enrich/README.md'), 'utf8')
const inGuide = guide
  .split('\n')
  .flatMap((line) => /^\| .* \| ((?:`[\w-]+`(?:, )?)+) \| /.exec(line)?.[1]?.split(', ') ?? [])

const ownTests = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && name !== 'every-format.test.ts')
  .map((name) => readFileSync(join(import.meta.dirname, name), 'utf8'))
  .filter((text) => text.includes("from 'fast-check'"))

describe.each(FORMATS)('the format %s', (format) => {
  it('has a golden file: a case in test/enrich/golden/cases.ts', () => {
    expect(goldenInputs.map((each) => each.format)).toContain(format)
  })

  it('has a golden file with a directive after a record, if it has directives', () => {
    const inputs = goldenInputs.filter((each) => each.format === format)
    const withDirectives = inputs.filter(({ plan }) => layoutOf(plan).directives !== null)
    const changing = withDirectives.filter(({ plan, bytes }) => {
      const { firstByte = -1 } = layoutOf(plan).directives ?? {}
      const first = String.fromCharCode(firstByte)
      const lines = new TextDecoder().decode(bytes).trimEnd().split('\n')
      const record = lines.findIndex((line) => line.trim() !== '' && !line.startsWith(first))
      return lines.slice(record).some((line) => line.startsWith(first))
    })
    expect(changing.length > 0).toBe(withDirectives.length > 0)
  })

  it('has an example, which is recognised, and whose address is located', () => {
    const { example, title } = definitionOf(format)
    const options = format === 'custom-log' ? { logFormat: '$remote_addr [$time_local] $status' } : {}
    const { counts, plan } = enrichBytes(utf8(`${example}\n`), { ...options, at: AT })
    expect(plan).toMatchObject({ format })
    expect(counts).toMatchObject({ resolved: 1, bad: 0, failed: {} })
    expect(title).not.toBe('')
  })

  it('has golden rows, unless it refuses rows', () => {
    const isRefused = FORMAT_DEFINITIONS.find(({ name }) => name === format)?.planRows === null
    expect(ROWS.some(([, options]) => options.format === format)).toBe(!isRefused)
  })

  it('has a row in the first table of src/enrich/README.md', () => {
    expect(inGuide.filter((name) => name === `\`${format}\``)).toHaveLength(1)
  })

  it('has a fuzz target: one of test/fuzz/targets names it in its formats', () => {
    expect(TARGETS.flatMap(({ formats }) => formats ?? [])).toContain(format)
  })

  it('has a property test of its own: a file of test/enrich/formats that uses fast-check names it', () => {
    expect(ownTests.some((text) => text.includes(`'${format}'`))).toBe(true)
  })

  it('gives the same for its golden input in blocks of any size', () => {
    for (const { bytes, options } of goldenInputs.filter((each) => each.format === format)) {
      const whole = enrichBytes(bytes, options)
      fc.assert(
        fc.property(fc.integer({ min: 1, max: bytes.length }), (blockBytes) => {
          const { output, counts } = enrichBytes(bytes, options, blockBytes)
          expect(output).toEqual(whole.output)
          expect(counts).toEqual(whole.counts)
        }),
        { numRuns: effort({ short: 4, long: 10 }) },
      )
    }
  })
})
