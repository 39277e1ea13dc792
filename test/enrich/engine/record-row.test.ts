import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BlockEnricher } from '../../../src/enrich/block-enricher.ts'
import { rowsOf, sampleTable } from '../../../src/enrich/formats/delimited/table.ts'
import { definitionFor, layoutOf, makePlan, withCells } from '../../../src/enrich/formats/formats.ts'
import { Splitter } from '../../../src/enrich/reading/splitter.ts'
import { CASES } from '../golden/cases.ts'
import { AT, text, worldSet } from '../world.ts'

const FIELDS = ['country_code', 'city', 'timezone_offset'] as const
/** Inputs whose records have fields, and lines that cannot be read. */
const INPUTS = [...new Map(CASES.map(([input, options]) => [input, options] as const))].filter(
  ([input]) => /\.(?:log|txt|csv|tsv)$/.test(input) && !input.startsWith('rows'),
)

type Values = Readonly<Record<string, unknown>>

/** A value as `sampleTable` reads it. */
const textOf = (value: unknown): string => String(value ?? '').trim()

describe('rows of records', () => {
  it.each(INPUTS)('have what the objects of %s have', (input, { format, logFormat, header }) => {
    const bytes = new Uint8Array(readFileSync(new URL(`../golden/${input}`, import.meta.url)))
    const options = { format, logFormat, header, fields: undefined, to: 'ndjson', at: AT } as const
    const { plan } = makePlan(bytes, true, { ...options, onBadLine: 'raw' })
    const splitter = new Splitter(layoutOf(plan), 1e6)
    const [block, ...others] = [...splitter.push(bytes), ...splitter.end()]
    if (block === undefined || others.length > 0) throw new Error('one block is expected')

    const lines = text(new BlockEnricher({ ...plan, jsonFields: FIELDS }, worldSet()).block(block).output)
    const objects = lines
      .trimEnd()
      .split('\n')
      .map((line): Values => JSON.parse(line))
    // What comes late has no column.
    const early = objects.slice(0, Math.ceil(objects.length / 2)).filter(({ raw }) => raw === undefined)
    const columns = [...new Set(early.flatMap(Object.keys))].filter((name) => name !== plan.into)
    const fits = (object: Values): boolean =>
      Object.keys(object).every((name) => columns.includes(name) || name === plan.into)

    for (const [form, delimiter] of [
      ['csv', 0x2c],
      ['tsv', 0x09],
    ] as const)
      for (const isFused of [true, false]) {
        const cells = withCells(plan, FIELDS, { form, hasAddress: false })
        const enricher = new BlockEnricher(cells, worldSet(), definitionFor(plan), isFused)
        const { output, objects: places = [] } = enricher.block({ ...block, columns })
        const kept = objects.filter((object) => !fits(object))
        expect(places).toHaveLength(2 * kept.length)
        let end = 0
        const rows = kept.flatMap((object, index) => {
          const [start = 0, after = 0] = places.slice(2 * index)
          const { [plan.into]: _, ...own }: Values = JSON.parse(text(output.subarray(start, after)))
          expect({ ...own, [plan.into]: object[plan.into] }).toEqual(object)
          const before = output.subarray(end, start)
          end = after
          return [...before]
        })
        const table = Uint8Array.from([...rows, ...output.subarray(end)])
        const dialect = { delimiter, quotes: true }
        expect(rowsOf(sampleTable(table, true, dialect, 1e6, 1e6))).toEqual(
          objects.filter(fits).map((object) => {
            const location = object[plan.into] as Values | null // by its plan
            const values = [...columns.map((name) => object[name]), ...FIELDS.map((name) => location?.[name])]
            return [...values.map(textOf), '']
          }),
        )
      }
  })
})
