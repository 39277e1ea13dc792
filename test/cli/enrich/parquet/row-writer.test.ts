import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import type { SchemaElement } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { expect, it } from 'vitest'
import { ParquetFile } from '../../../../src/cli/enrich/parquet/parquet-file.ts'
import { effort } from '../../../effort.ts'
import { temporaryFolder } from '../../../temporary.ts'

const folder = temporaryFolder()

const text = (
  name: string,
  repetition_type: SchemaElement['repetition_type'] = 'OPTIONAL',
): SchemaElement => ({ name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type })
const group = (name: string, more: Partial<SchemaElement>): SchemaElement => ({
  name,
  repetition_type: 'OPTIONAL',
  num_children: 1,
  ...more,
})

/** Lists of structs with a text, a list of numbers and a map. */
const SCHEMA: SchemaElement[] = [
  { name: 'root', num_children: 2 },
  text('id'),
  group('seen', { converted_type: 'LIST' }),
  group('list', { repetition_type: 'REPEATED' }),
  group('element', { num_children: 3 }),
  text('a, "b"'),
  group('numbers', { converted_type: 'LIST' }),
  group('list', { repetition_type: 'REPEATED' }),
  { name: 'element', type: 'INT32', repetition_type: 'OPTIONAL' },
  group('tags', { converted_type: 'MAP' }),
  group('key_value', { repetition_type: 'REPEATED', num_children: 2 }),
  text('key', 'REQUIRED'),
  text('value'),
]

const words = fc.oneof(fc.constantFrom('', '"', ',', '\\', 'a\r\nb', 'null', '{"a":1}', 'é'), fc.string())
const orNull = <T>(values: fc.Arbitrary<T>) => fc.option(values, { freq: 4 })
const element = fc.record({
  'a, "b"': orNull(words),
  numbers: orNull(fc.array(orNull(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })), { maxLength: 3 })),
  tags: orNull(fc.dictionary(words, orNull(words), { maxKeys: 3, noNullPrototype: true })),
})
const row = fc.record({ id: orNull(words), seen: orNull(fc.array(orNull(element), { maxLength: 3 })) })

/** The rows of a file, from chunks that are valid until the next one. */
async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(new Uint8Array(chunk))
  return Buffer.concat(all).toString()
}

it('puts rows of nested columns together as JSON.stringify does, in any pages and row groups', async () => {
  const name = join(folder, 'nested.parquet')
  const options = fc.record({
    rowGroupSize: fc.integer({ min: 1, max: 3000 }),
    pageSize: fc.constantFrom(20, 1000),
  })
  // More rows than become cells at once.
  const copies = fc.constantFrom(1, 2, 300)
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 8 }),
      copies,
      options,
      async (some, count, more) => {
        const rows = Array.from({ length: count }, () => some).flat()
        const columnData = [
          { name: 'id', data: rows.map(({ id }) => id) },
          { name: 'seen', data: rows.map(({ seen }) => seen) },
        ]
        writeFileSync(name, new Uint8Array(parquetWriteBuffer({ columnData, schema: SCHEMA, ...more })))
        const file = await ParquetFile.open(name)
        try {
          expect(await textOf(file.lines())).toBe(rows.map((each) => `${JSON.stringify(each)}\n`).join(''))
          const cells = rows.map(({ id, seen }) => [id ?? '', seen === null ? '' : JSON.stringify(seen)])
          expect(parse(await textOf(file.table('csv')), { skip_empty_lines: false })).toEqual([
            ['id', 'seen'],
            ...cells,
          ])
        } finally {
          await file.close()
        }
      },
    ),
    { numRuns: effort({ short: 60, long: 2000 }) },
  )
})

it('refuses a list or a map that repeats a text for longer than a line can be', async () => {
  const name = join(folder, 'repeats.parquet')
  const many = Array.from({ length: 129 }, (_, index) => [`${index}`, 'x'.repeat(2 ** 21)] as const)
  const row = { 'a, "b"': null, numbers: null, tags: Object.fromEntries(many) }
  const list = many.map(([, text]) => ({ 'a, "b"': text, numbers: null, tags: null }))
  for (const seen of [list, [row]]) {
    const columnData = [
      { name: 'id', data: ['1'] },
      { name: 'seen', data: [seen] },
    ]
    writeFileSync(name, new Uint8Array(parquetWriteBuffer({ columnData, schema: SCHEMA })))
    const file = await ParquetFile.open(name)
    for (const chunks of [file.lines(), file.table('csv')]) {
      await expect(textOf(chunks)).rejects.toThrow('a row or a list in it is too long')
    }
    await file.close()
  }
})
