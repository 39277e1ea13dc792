// What a damaged or hostile Parquet file can say of its pages. The bytes of pages are written here by hand.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import type { ColumnMetaData, SchemaTree } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { describe, expect, it } from 'vitest'
import { checkPages } from '../../../../src/cli/enrich/parquet/pages.ts'
import { ParquetFile } from '../../../../src/cli/enrich/parquet/parquet-file.ts'
import { CommandFailure } from '../../../../src/cli/terminal.ts'
import { effort } from '../../../effort.ts'
import { temporaryFolder } from '../../../temporary.ts'

const folder = temporaryFolder()

const node = (name: string, repetition_type: 'OPTIONAL' | 'REPEATED' | 'REQUIRED'): SchemaTree => ({
  children: [],
  count: 0,
  element: { name, repetition_type, type: 'BYTE_ARRAY' },
  path: [name],
})
const ROOT = node('root', 'REQUIRED')
const OPTIONAL = [ROOT, node('a', 'OPTIONAL')]
const REPEATED = [ROOT, node('a', 'OPTIONAL'), node('list', 'REPEATED')]

const metadata = (num_values: number, more: Partial<ColumnMetaData> = {}): ColumnMetaData => ({
  type: 'BYTE_ARRAY',
  encodings: [],
  path_in_schema: ['a'],
  codec: 'UNCOMPRESSED',
  num_values: BigInt(num_values),
  total_uncompressed_size: 0n,
  total_compressed_size: 0n,
  data_page_offset: 4n,
  ...more,
})

/** An unsigned number of Thrift's compact protocol. */
function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return [...bytes, rest]
}

type Field = readonly [step: number, value: number | readonly Field[] | boolean]

/** A struct. Each field has the difference to the number of the field before. */
const struct = (...fields: readonly Field[]): number[] => [
  ...fields.flatMap(([step, value]) => {
    if (typeof value === 'boolean') return [step * 16 + (value ? 1 : 2)]
    if (typeof value === 'number') return [step * 16 + 5, ...varint(value < 0 ? -2 * value - 1 : 2 * value)]
    return [step * 16 + 12, ...struct(...value)]
  }),
  0,
]
const fields = (...all: readonly Field[]): readonly Field[] => all

const DATA = 0
const V2 = 3

/** A page with definition levels, whose body is given: of plain values, or in another encoding. */
function page(values: number, body: readonly number[], size = body.length, encoding = 0): Uint8Array {
  const data = fields([1, values], [1, encoding], [1, 3], [1, 3])
  return Uint8Array.from([...struct([1, DATA], [1, body.length], [1, size], [2, data]), ...body])
}

/** Definition levels with their length before them. */
const levels = (...runs: number[]): number[] => [runs.length, 0, 0, 0, ...runs]

/** A second version of a page, with these numbers of bytes of levels. */
function pageV2(values: number, nulls: number, definition: number, repetition: number): Uint8Array {
  const body = [values * 2, 1, 0, 0]
  const data = fields([1, values], [1, nulls], [1, values], [1, 0], [1, definition], [1, repetition])
  return Uint8Array.from([...struct([1, V2], [1, body.length], [1, body.length], [5, data]), ...body])
}

const check = (bytes: Uint8Array, values: number, path: readonly SchemaTree[] = OPTIONAL) =>
  checkPages(bytes, path, metadata(values), values)

/** Delta-packed numbers, which all are the same. Each block of 128 has no differences. */
const deltas = (count: number, value: number): number[] => {
  const blocks = Array.from({ length: Math.ceil((count - 1) / 128) }, () => [0, 0, 0, 0, 0])
  return [...varint(128), 4, ...varint(count), ...varint(2 * value), ...blocks.flat()]
}

/** A page of texts, each of which repeats this many bytes of the one before. */
function prefixPage(values: number, prefix: number, body: readonly number[]): Uint8Array {
  return page(values, [...body, ...deltas(values, prefix), ...deltas(values, 0)], undefined, 7)
}

/** A page of two bytes with this header. */
const headed = (header: readonly number[]): Uint8Array => Uint8Array.from([...header, 0, 0])

/** The lines of a file's rows. */
async function linesOf(path: string): Promise<string[]> {
  const opened = await ParquetFile.open(path)
  try {
    const chunks: Uint8Array[] = []
    for await (const chunk of opened.lines()) chunks.push(chunk)
    return Buffer.concat(chunks).toString().split('\n').slice(0, -1)
  } finally {
    await opened.close()
  }
}

describe('checkPages', () => {
  it('takes pages with as many values as the footer says', () => {
    check(page(3, levels(6, 0)), 3)
    check(page(8, levels(3, 0xff)), 8)
    check(Uint8Array.from([...page(2, levels(4, 0)), ...page(1, levels(2, 0))]), 3)
    check(pageV2(3, 3, 2, 0), 3)
    // Flat columns are read up to their last row, whatever follows.
    check(Uint8Array.from([...page(3, levels(6, 0)), 1, 2, 3]), 3)
  })

  it('bounds what repeated prefixes take, in all pages of a column', () => {
    const present = (count: number): number[] => levels(...varint(2 * count), 1)
    const mebibytes = (values: number): Uint8Array => prefixPage(values, 2 ** 20, present(values))
    check(mebibytes(1000), 1000)
    check(prefixPage(1_000_000, 100, present(1_000_000)), 1_000_000)
    // Missing values have no prefixes.
    check(prefixPage(2000, 2 ** 20, levels(...varint(4000), 0)), 2000)
    expect(() => check(mebibytes(2000), 2000)).toThrow('bytes of prefixes')
    expect(() => check(Uint8Array.from([...mebibytes(600), ...mebibytes(600)]), 1200)).toThrow(
      'bytes of prefixes',
    )
  })

  it('takes texts that a writer encodes by prefixes, with missing ones', async () => {
    const data = Array.from({ length: 1000 }, (_, index) =>
      index % 7 === 0 ? null : `81.2.69.${index % 250}`,
    )
    const file = join(folder, 'prefixes.parquet')
    const column = { name: 'ip', data, type: 'STRING', encoding: 'DELTA_BYTE_ARRAY' } as const
    writeFileSync(file, new Uint8Array(parquetWriteBuffer({ columnData: [column] })))
    const rows = (await linesOf(file)).map((line): unknown => JSON.parse(line))
    expect(rows).toEqual(data.map((ip) => ({ ip })))
  })

  it.each<[string, Uint8Array, number, (readonly SchemaTree[])?]>([
    ['is cut off', page(3, levels(6, 0)).subarray(0, -1), 3],
    ['has fewer values than the footer says', page(2, levels(4, 0)), 3],
    ['has more values than the footer says', page(4, levels(8, 0)), 3],
    ['has less than no values', page(-1, levels(2, 0)), 3],
    ['has no size', headed(struct([1, DATA], [4, fields([1, 3], [1, 0])])), 3],
    ['is longer than its column', page(3, levels(6, 0), 100), 3],
    ['ends before itself', page(3, levels(6, 0), -100), 3],
    ['has no header of its kind', headed(struct([1, DATA], [1, 2], [1, 2])), 3],
    ['has an unknown type', headed(struct([1, 1], [1, 2], [1, 2])), 3],
    ['has a size twice', Uint8Array.from([...struct([1, DATA], [1, 2], [1, 2]).slice(0, -1), 5, 6, 9, 0]), 3],
    ['has a run that is too long', page(3, levels(...varint(2 ** 30), 0)), 3],
    ['has a run of less than nothing', page(3, levels(...varint(2 ** 32 - 1), 0)), 3],
    ['has packed bits that are too long', page(3, levels(...varint(2 ** 28 + 1), 0)), 3],
    ['has levels without a length', page(3, [6, 0]), 3],
    ['has levels that are longer than it is', pageV2(3, 3, 100, 0), 3],
    ['has more missing values than values', pageV2(3, 4, 2, 0), 3],
    [
      'has bytes after its last value',
      Uint8Array.from([...page(3, [...levels(6, 0), ...levels(6, 0)]), 1, 2]),
      3,
      REPEATED,
    ],
  ])('refuses a page that %s', (_, bytes, values, path) => {
    expect(() => check(bytes, values, path)).toThrow(Error)
  })

  it('refuses columns with other values than rows, or too many', () => {
    const bytes = page(3, levels(6, 0))
    expect(() => checkPages(bytes, OPTIONAL, metadata(3), 4)).toThrow('3 values')
    expect(() => checkPages(bytes, OPTIONAL, metadata(2 ** 27), 2 ** 27)).toThrow('134217728 values')
    expect(() => checkPages(bytes, OPTIONAL, metadata(3, { codec: 'LZO' }), 3)).toThrow('LZO')
    expect(() => checkPages(bytes, OPTIONAL, metadata(3, { type: 'INT32' }), 3)).toThrow('another type')
  })
})

describe('a damaged file', () => {
  const texts = Array.from({ length: 200 }, (_, index) => (index % 7 === 0 ? null : `81.2.69.${index % 256}`))
  const lists = texts.map((_, index) => (index % 5 === 0 ? null : [index, index + 1]))
  const FILES = (['UNCOMPRESSED', 'SNAPPY'] as const).map((codec) =>
    Buffer.from(
      parquetWriteBuffer({
        codec,
        rowGroupSize: 120,
        columnData: [
          { name: 'ip', data: texts, type: 'STRING' },
          { name: 'id', data: texts.map((_, index) => BigInt(index)), type: 'INT64' },
          { name: 'lists', data: lists },
        ],
      }),
    ),
  )

  it('is read with all rows, or refused, and never read for ever', async () => {
    const path = join(folder, 'damaged.parquet')
    const change = fc.tuple(fc.nat(), fc.oneof(fc.nat(255), fc.constantFrom(0, 1, 127, 128, 252, 255)))
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...FILES),
        fc.array(change, { minLength: 1, maxLength: 4 }),
        async (file, changes) => {
          const bytes = Buffer.from(file)
          for (const [at, byte] of changes) bytes[at % bytes.length] = byte
          writeFileSync(path, bytes)
          try {
            expect(await linesOf(path)).toHaveLength(texts.length)
          } catch (error) {
            if (!(error instanceof CommandFailure)) throw error
          }
        },
      ),
      { numRuns: effort({ short: 200, long: 5000 }) },
    )
  })

  it('with an element of the schema that no column has is refused', async () => {
    const path = join(folder, 'elements.parquet')
    for (const file of FILES) {
      const bytes = Buffer.from(file)
      // The number of columns, in zigzag form, follows the name of the root and the header of its field.
      const at = bytes.lastIndexOf('root') + 'root'.length + 1
      expect(bytes[at]).toBe(2 * 3)
      bytes[at] = 2 * 2
      writeFileSync(path, bytes)
      await expect(linesOf(path)).rejects.toThrow('elements of no column')
    }
  })

  it('with a page header without sizes is refused', async () => {
    const path = join(folder, 'endless.parquet')
    for (const file of FILES) {
      const bytes = Buffer.from(file)
      // The header of the first page is after the magic: its third field becomes a struct.
      for (let at = 5; at < 12; at++) {
        const changed = Buffer.from(bytes)
        changed[at] = 0xfc
        writeFileSync(path, changed)
        await expect(linesOf(path)).rejects.toThrow('its Parquet data cannot be read')
      }
    }
  })
})
