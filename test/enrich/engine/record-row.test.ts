import { describe, expect, it } from 'vitest'
import { BlockEnricher } from '../../../src/enrich/block-enricher.ts'
import { rowsOf, sampleTable } from '../../../src/enrich/formats/delimited/table.ts'
import { definitionFor, layoutOf, makePlan, withCells } from '../../../src/enrich/formats/formats.ts'
import type { LocationCells } from '../../../src/enrich/options.ts'
import { headBlock, Splitter } from '../../../src/enrich/reading/splitter.ts'
import { VALUE_SEPARATOR } from '../../../src/enrich/writing/column-templates.ts'
import { CASES, golden } from '../golden/cases.ts'
import { AT, text, wholeSample, worldSet } from '../world.ts'

const FIELDS = ['country_code', 'city', 'timezone_offset'] as const
/** Inputs whose records have fields, and lines that cannot be read. */
const INPUTS = [...new Map(CASES.map(([input, options]) => [input, options] as const))].filter(
  ([input]) => /\.(?:log|txt|csv|tsv)$/.test(input) && !input.startsWith('rows'),
)

type Values = Readonly<Record<string, unknown>>

/** A value as `sampleTable` reads it. */
const textOf = (value: unknown): string => String(value ?? '').trim()

describe('rows of records', () => {
  /** One for all enrichers of a thread. */
  const sources = new Set<unknown>()

  it.each(INPUTS)('have what the objects of %s have', (input, { format, logFormat, header }) => {
    const bytes = golden(input)
    const options = { format, logFormat, header, fields: undefined, to: 'ndjson', at: AT } as const
    const { plan } = makePlan(wholeSample(bytes), { ...options, onBadLine: 'raw' })
    const splitter = new Splitter(layoutOf(plan), 1e6)
    const [block, ...others] = [
      ...splitter.push(bytes.subarray(headBlock(bytes, layoutOf(plan)).bytes.length)),
      ...splitter.end(),
    ]
    if (block === undefined || others.length > 0) throw new Error('one block is expected')

    const objectsOf = (jsonFields: typeof FIELDS | null): Values[] =>
      text(new BlockEnricher({ ...plan, jsonFields }, worldSet()).block(block).output)
        .trimEnd()
        .split('\n')
        .map((line): Values => JSON.parse(line))
    const objects = objectsOf(FIELDS)
    // What comes late has no column.
    const early = objects.slice(0, Math.ceil(objects.length / 2)).filter(({ raw }) => raw === undefined)
    const columns = [...new Set(early.flatMap(Object.keys))].filter((name) => name !== plan.into)
    const fits = (object: Values): boolean =>
      Object.keys(object).every((name) => columns.includes(name) || name === plan.into)
    const locationOf = (object: Values) => object[plan.into] as Values | null // by its plan
    const kept = objects.filter((object) => !fits(object))

    /** The bytes of the rows that fit the columns, of two equal blocks. */
    const written = (cells: LocationCells, usesLoop: boolean): Uint8Array => {
      const cellPlan = withCells(plan, FIELDS, cells)
      const enricher = new BlockEnricher(cellPlan, worldSet(), definitionFor(plan), usesLoop)
      const blocks = [enricher.block({ ...block, columns }), enricher.block({ ...block, columns })]
      for (const { source } of blocks) sources.add(source)
      expect(sources.size).toBe(1)
      const rows = blocks.flatMap(({ output, objects: places = [] }) => {
        expect(places).toHaveLength(2 * kept.length)
        let end = 0
        const between = kept.flatMap((object, index) => {
          const [start = 0, after = 0] = places.slice(2 * index)
          const { [plan.into]: _, ...own }: Values = JSON.parse(text(output.subarray(start, after)))
          expect({ ...own, [plan.into]: object[plan.into] }).toEqual(object)
          const before = output.subarray(end, start)
          end = after
          return [...before]
        })
        return [...between, ...output.subarray(end)]
      })
      return Uint8Array.from(rows)
    }
    const twice = [...objects, ...objects]

    for (const [form, delimiter] of [
      ['csv', 0x2c],
      ['tsv', 0x09],
    ] as const)
      for (const usesLoop of [true, false]) {
        const table = written({ form, hasAddress: false }, usesLoop)
        const dialect = { delimiter, quotes: true }
        expect(rowsOf(sampleTable(wholeSample(table), dialect, 1e6, 1e6))).toEqual(
          twice.filter(fits).map((object) => {
            const location = locationOf(object)
            const values = [...columns.map((name) => object[name]), ...FIELDS.map((name) => location?.[name])]
            return [...values.map(textOf), '']
          }),
        )
      }

    const addresses = objectsOf(null).map((object) => locationOf(object)?.ip ?? null)
    for (const hasAddress of [true, false])
      for (const usesLoop of [true, false]) {
        const packed = written({ form: 'values', hasAddress }, usesLoop)
        expect(unpacked(packed, columns.length, hasAddress)).toEqual(
          twice.flatMap((object, index) => {
            if (!fits(object)) return []
            const location = locationOf(object)
            const cells = location && FIELDS.map((name) => textOf(location[name]))
            const address = hasAddress ? addresses[index % addresses.length] : null
            return [[cells, address, ...columns.map((name) => object[name] ?? null)]]
          }),
        )
      }
  })
})

describe('packed rows', () => {
  it('refer only to texts of rows that come before them: the rest of a block becomes objects', () => {
    const bytes = new TextEncoder().encode(`ip\n${'81.2.69.142\n'.repeat(5000)}`)
    const { plan } = makePlan(wholeSample(bytes), { format: 'csv', to: 'ndjson', at: AT })
    const packed = withCells(plan, FIELDS, { form: 'values', hasAddress: false })
    const columns = Array.from({ length: 2000 }, (_, column) => (column === 0 ? 'ip' : `c${column}`))
    const [block] = new Splitter(layoutOf(plan), bytes.length).push(bytes)
    if (block === undefined) throw new Error('no block')
    const { objects, rest } = new BlockEnricher(packed, worldSet()).block({ ...block, columns })
    expect(objects).toEqual([])
    expect(rest).not.toHaveProperty('columns')
    expect(rest?.bytes.length).toBeGreaterThan(0)
  })
})

/** The columns of the location of each packed row, its address, and its values. */
function unpacked(bytes: Uint8Array, columns: number, hasAddress: boolean): unknown[][] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const texts: string[] = []
  const rows: unknown[][] = []
  let at = 0
  const number = (): number => {
    at += 4
    return view.getInt32(at - 4, true)
  }
  const sized = (): string => {
    const size = number()
    at += size
    return text(bytes.subarray(at - size, at))
  }
  while (at < bytes.length) {
    const place = number()
    if (place < 0) expect(texts.push(sized())).toBe(-place)
    const cells =
      place === 0 ? null : String(JSON.parse(`"${texts[Math.abs(place) - 1]}"`)).split(VALUE_SEPARATOR)
    const address = hasAddress && place !== 0 ? sized() : null
    const values = Array.from({ length: columns }, (): unknown => JSON.parse(sized() || 'null'))
    rows.push([cells, address, ...values])
    expect(bytes[at++]).toBe(0x0a)
  }
  return rows
}
