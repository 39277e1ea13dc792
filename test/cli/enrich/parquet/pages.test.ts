// What a damaged or hostile Parquet file can say of its pages. The bytes of pages are written here by hand.
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import type { ColumnMetaData, ParquetType, SchemaTree } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { describe, expect, it } from 'vitest'
import { ByteSink } from '../../../../src/bytes/byte-sink.ts'
import { crc32 } from '../../../../src/bytes/extract.ts'
import { ColumnReader } from '../../../../src/cli/enrich/parquet/pages.ts'
import { ParquetFile } from '../../../../src/cli/enrich/parquet/parquet-file.ts'
import { RowWriter } from '../../../../src/cli/enrich/parquet/row-writer.ts'
import { CellReader } from '../../../../src/cli/enrich/parquet/values.ts'
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
const REQUIRED = [ROOT, node('a', 'REQUIRED')]
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
const DICTIONARY = 2
const V2 = 3
const INDEXES = 8

/** A page with definition levels, whose body is given: of plain values, or in another encoding. */
function page(values: number, body: readonly number[], size = body.length, encoding = 0): Uint8Array {
  const data = fields([1, values], [1, encoding], [1, 3], [1, 3])
  return Uint8Array.from([...struct([1, DATA], [1, body.length], [1, size], [2, data]), ...body])
}

/** A dictionary page, and a page after it. */
function withDictionary(values: number, body: readonly number[], after: Uint8Array): Uint8Array {
  const dictionary = fields([1, values], [1, 0])
  const header = struct([1, DICTIONARY], [1, body.length], [1, body.length], [4, dictionary])
  return Uint8Array.from([...header, ...body, ...after])
}

/** A plain text, with its length before it. */
const text = (value: string): number[] => [value.length, 0, 0, 0, ...Buffer.from(value)]
const TEXTS = ['a', 'b', 'c'].flatMap(text)

/** Definition levels with their length before them. */
const levels = (...runs: number[]): number[] => [runs.length, 0, 0, 0, ...runs]

/** A second version of a page, whose definition levels are these runs, after those of repetition levels. */
function pageV2(
  values: number,
  nulls: number,
  runs: readonly number[],
  body: readonly number[] = [],
  encoding = 0,
  definition = runs.length,
  repetitions: readonly number[] = [],
): Uint8Array {
  const size = repetitions.length + runs.length + body.length
  const data = fields(
    [1, values],
    [1, nulls],
    [1, values],
    [1, encoding],
    [1, definition],
    [1, repetitions.length],
    [1, false],
  )
  const header = struct([1, V2], [1, size], [1, size], [5, data])
  return Uint8Array.from([...header, ...repetitions, ...runs, ...body])
}

/** A second version of a page with runs of repetition levels too. */
function repeatedPage(
  repetitions: readonly number[],
  definitions: readonly number[],
  texts: readonly string[],
): Uint8Array {
  const values = repetitions[0] === 2 ? 1 : 2
  const body = texts.flatMap(text)
  return pageV2(values, values - texts.length, definitions, body, 0, undefined, repetitions)
}

/** Four levels or indexes of two bits. */
const packed = (...values: number[]): number[] => [
  3,
  values.reduce((bits, value, at) => bits + value * 4 ** at, 0),
  0,
]
/** The definition levels of four values that are not missing. */
const PRESENT = [8, 1]

/** The cells of a column. */
function cellsOf(
  bytes: Uint8Array,
  values: number,
  path: readonly SchemaTree[] = OPTIONAL,
  more: Partial<ColumnMetaData> = {},
  rows = values,
): CellReader {
  const source = { size: bytes.length, read: (start: number, end: number) => bytes.subarray(start, end) }
  const column = new ColumnReader(source, path, metadata(values, more), rows)
  return new CellReader(column, path.at(-1) ?? ROOT, 'json')
}

/** Reads all cells of a column. */
function check(...column: Parameters<typeof cellsOf>): void {
  const cells = cellsOf(...column)
  while (cells.next());
}

/** Delta-packed numbers: one, and another that all others are. Each block of 128 has at most one difference. */
const deltas = (count: number, first: number, value = first): number[] => {
  const [block, ...blocks] = Array.from({ length: Math.ceil((count - 1) / 128) }, () => [0, 0, 0, 0, 0])
  const difference = [...new Uint8Array(Int32Array.of(value - first).buffer), ...new Uint8Array(124)]
  const start = block === undefined ? [] : [0, 32, 0, 0, 0, ...difference]
  return [...varint(128), 4, ...varint(count), ...varint(2 * first), ...start, ...blocks.flat()]
}

/** A page of texts, each of which repeats this many bytes of the one before: the first has them. */
function prefixPage(values: number, prefix: number, body: readonly number[], count = values): Uint8Array {
  const texts = [...deltas(count, 0, prefix), ...deltas(count, prefix, 0), ...new Uint8Array(prefix)]
  return page(values, [...body, ...texts], undefined, 7)
}

/** A page of two bytes with this header. */
const headed = (header: readonly number[]): Uint8Array => Uint8Array.from([...header, 0, 0])

/** A page of `page`, whose header has a checksum too. */
function withChecksum(bytes: Uint8Array, checksum: number): Uint8Array {
  // Its three numbers take two bytes each. The field after them is the next but one.
  return Uint8Array.from([
    ...bytes.subarray(0, 6),
    ...struct([1, checksum]).slice(0, -1),
    0x1c,
    ...bytes.subarray(7),
  ])
}

/** The lines of a file's rows. */
async function linesOf(path: string): Promise<string[]> {
  const opened = await ParquetFile.open(path)
  try {
    const chunks: Uint8Array[] = []
    for await (const chunk of opened.lines()) chunks.push(new Uint8Array(chunk))
    return Buffer.concat(chunks).toString().split('\n').slice(0, -1)
  } finally {
    await opened.close()
  }
}

describe('ColumnReader', () => {
  it('takes pages with as many values as the footer says', () => {
    check(page(3, levels(6, 0)), 3)
    check(page(8, levels(3, 0)), 8)
    check(Uint8Array.from([...page(2, levels(4, 0)), ...page(1, levels(2, 0))]), 3)
    check(pageV2(3, 3, [6, 0]), 3)
    check(pageV2(4, 0, PRESENT, [...TEXTS, ...text('d')]), 4)
    check(pageV2(4, 1, [3, 0b1011], TEXTS), 4)
    for (const indexes of [
      [2, ...packed(2, 1, 0, 2)],
      [2, 4, 2, 4, 0],
      [30, 8, 2, 0, 0, 0],
    ]) {
      check(withDictionary(3, TEXTS, page(4, [...levels(...PRESENT), ...indexes], undefined, INDEXES)), 4)
      check(withDictionary(3, TEXTS, pageV2(4, 0, PRESENT, indexes, INDEXES)), 4)
    }
    check(withDictionary(1, text('a'), page(4, [...levels(...PRESENT), 0], undefined, INDEXES)), 4)
    // Flat columns are read up to their last row, whatever follows.
    check(Uint8Array.from([...page(3, levels(6, 0)), 1, 2, 3]), 3)
  })

  it('bounds what repeated prefixes take, in all pages of a column', () => {
    const present = (count: number): number[] => levels(...varint(2 * count), 1)
    const mebibytes = (values: number): Uint8Array => prefixPage(values, 2 ** 20, present(values))
    check(mebibytes(30), 30)
    check(prefixPage(100_000, 100, present(100_000)), 100_000)
    // Missing values have no prefixes.
    check(prefixPage(2000, 2 ** 20, levels(...varint(4000), 0), 1), 2000)
    expect(() => check(mebibytes(2000), 2000)).toThrow('bytes of prefixes')
    expect(() => check(Uint8Array.from([...mebibytes(30), ...mebibytes(1000)]), 1030)).toThrow(
      'bytes of prefixes',
    )
  })

  it('refuses a page header with an endless number in a moment', () => {
    const header = new Uint8Array(2 ** 22).fill(0xff)
    // Field 9 is a number of 64 bits.
    header[0] = 0x96
    expect(() => check(header, 1, REQUIRED)).toThrow('outside the bounds')
  })

  it('looks only at the columns that are read', async () => {
    const path = join(folder, 'other-columns.parquet')
    const columnData = ['ip', 'other'].map((name) => ({ name, data: ['81.2.69.142'] }))
    const bytes = Buffer.from(parquetWriteBuffer({ columnData }))
    // The last one is the path of the column.
    bytes.write('OTHER', bytes.lastIndexOf('other'))
    writeFileSync(path, bytes)
    const file = await ParquetFile.open(path)
    expect([...file.textsOf(0, [['ip']])].map(([texts]) => texts?.starts.length)).toEqual([1])
    await file.close()
    await expect(linesOf(path)).rejects.toThrow('"other" has another number of rows')
  })

  it('refuses a file that becomes shorter while it is read', async () => {
    const path = join(folder, 'shorter.parquet')
    const columnData = [{ name: 'number', data: [1, 2, 3], nullable: false }]
    writeFileSync(path, new Uint8Array(parquetWriteBuffer({ columnData, codec: 'UNCOMPRESSED' })))
    const file = await ParquetFile.open(path)
    truncateSync(path, file.footerStart - 4)
    await expect(file.lines().next()).rejects.toThrow('it ends too early')
    await file.close()
  })

  it.each(['PLAIN', 'RLE_DICTIONARY', 'DELTA_LENGTH_BYTE_ARRAY', 'DELTA_BYTE_ARRAY'] as const)(
    'gives the text of each row, in any pages and row groups: %s',
    async (encoding) => {
      const data = Array.from({ length: 3000 }, (_, index) =>
        index % 7 === 0 || (index > 1000 && index < 1600) ? null : `é${index % 250}`,
      )
      const full = data.map((text) => text ?? '')
      const columnData = [
        { name: 'some', data, type: 'STRING', encoding },
        { name: 'all', data: full, type: 'STRING', encoding, nullable: false },
        { name: 'number', data: data.map((text, index) => (text === null ? null : index)), type: 'INT32' },
      ] as const
      for (const codec of ['SNAPPY', 'UNCOMPRESSED'] as const) {
        const name = join(folder, `${encoding}-${codec}.parquet`)
        const options = { columnData: [...columnData], rowGroupSize: [500, 1700], pageSize: 600, codec }
        writeFileSync(name, new Uint8Array(parquetWriteBuffer(options)))
        const file = await ParquetFile.open(name)
        const found: string[][] = [[], [], [], []]
        const paths = [['some'], ['all'], ['number'], ['number', 'of']]
        for (const group of file.groupRows.keys())
          for (const parts of file.textsOf(group, paths))
            for (const [column, { bytes, starts, ends }] of parts.entries())
              for (const [row, start] of starts.entries())
                found[column]?.push(Buffer.from(bytes.subarray(start, ends[row])).toString())
        await file.close()
        expect(found).toEqual([
          full,
          full,
          full.map((text, index) => (text === '' ? '' : String(index))),
          full.map(() => ''),
        ])
      }
    },
  )

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
    ['has levels that are longer than it is', pageV2(3, 3, [6, 0], [], 0, 100), 3],
    ['has more missing values than values', pageV2(3, 4, [6, 0]), 3],
    ['has levels that its schema does not have', pageV2(3, 0, [6, 1], TEXTS), 3, REQUIRED],
    // Without the length of its levels, the first text would be a run.
    [
      'has levels that go on in its values',
      page(4, [...levels(4, 1), 4, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0]),
      4,
    ],
    ['has levels beyond its schema', page(3, levels(6, 2)), 3],
    ['has levels of more values than itself', page(3, levels(8, 0)), 3],
    ['has fewer bytes than texts', page(3, [...levels(6, 1), ...TEXTS.slice(0, -1)]), 3],
    ['has a text that is longer than it is', page(1, [...levels(2, 1), 2, 0, 0, 0, 65]), 1],
    ['has a dictionary of fewer bytes', withDictionary(4, TEXTS, page(3, levels(6, 0))), 3],
    ['has prefixes of fewer values', prefixPage(4, 1, levels(8, 1), 3), 4],
    [
      'repeats more than the text before has',
      page(2, [...levels(4, 1), ...deltas(2, 0, 9), ...deltas(2, 1), 65, 66], undefined, 7),
      2,
    ],
    [
      'has lengths of texts beyond its end',
      page(2, [...levels(4, 1), ...deltas(2, 3), 65, 66], undefined, 6),
      2,
    ],
    ['has deltas of texts', page(2, [...levels(4, 1), ...deltas(2, 3)], undefined, 5), 2],
    ['has another checksum', withChecksum(page(3, levels(6, 0)), 1), 3],
    [
      'has bytes after its last value',
      Uint8Array.from([...page(3, [...levels(6, 0), ...levels(6, 0)]), 1, 2]),
      3,
      REPEATED,
    ],
  ])('refuses a page that %s', (_, bytes, values, path) => {
    expect(() => check(bytes, values, path)).toThrow(Error)
  })

  it.each<[string, number[], number?]>([
    ['packed', [2, ...packed(0, 1, 2, 3)]],
    ['in a run', [2, 4, 0, 4, 3]],
    ['without a dictionary', [2, ...packed(0, 1, 2, 1)], 0],
    ['of no bits, without a dictionary', [0], 0],
    ['in too few bytes', [2, 3]],
    ['without their width', []],
    ['in a run of too many', [2, 10, 0]],
    ['of more bits than are read', [32, 3, ...new Uint8Array(32)]],
  ])('refuses indexes beyond the dictionary, or other than the values: %s', (_, indexes, size = 3) => {
    const dictionary = TEXTS.slice(0, 5 * size)
    for (const bytes of [
      page(4, [...levels(...PRESENT), ...indexes], undefined, INDEXES),
      pageV2(4, 0, PRESENT, indexes, INDEXES),
    ]) {
      expect(() => check(withDictionary(size, dictionary, bytes), 4)).toThrow(Error)
    }
  })

  it('refuses a page whose header says other missing values than its levels', () => {
    for (const nulls of [0, 2, 3]) {
      expect(() => check(pageV2(4, nulls, [3, 0b1011], TEXTS), 4)).toThrow('other missing values')
    }
  })

  it.each([
    // The columns are `x` and missing; the struct, or its second element, is missing in one of them.
    ['structs', 'OPTIONAL', [pageV2(1, 0, [2, 2], text('x')), pageV2(1, 1, [2, 1])], pageV2(1, 1, [2, 0])],
    [
      'lists',
      'REPEATED',
      [repeatedPage([3, 0b10], [4, 2], ['x', 'x']), repeatedPage([3, 0b10], [4, 1], [])],
      repeatedPage([2, 0], [2, 1], []),
    ],
  ] as const)('refuses %s that are other ones in another column', (_, kind, pages, other) => {
    const struct = {
      ...node('s', kind),
      element: { name: 's', repetition_type: kind },
      children: ['a', 'b'].map((name) => node(name, 'OPTIONAL')),
    }
    const lineOf = (bytes: readonly Uint8Array[]): string => {
      const left = [...bytes]
      const row = new RowWriter([struct], 'json', (leaf) => {
        const own = left.shift() ?? other
        return cellsOf(own, own === other ? 1 : kind === 'REPEATED' ? 2 : 1, [ROOT, struct, leaf])
      })
      const out = new ByteSink()
      row.write(out)
      row.end()
      return Buffer.from(out.bytes).toString()
    }
    const one = '{"a":"x","b":null}'
    expect(lineOf(pages)).toBe(`{"s":${kind === 'REPEATED' ? `[${one},${one}]` : one}}\n`)
    expect(() => lineOf(pages.slice(0, 1))).toThrow('the columns of a struct have other rows')
  })

  it('compares a page with its checksum', () => {
    const bytes = page(3, levels(6, 0))
    const sum = crc32(Uint8Array.from(levels(6, 0)))
    // Above 2 ** 31, it is stored as a negative number.
    check(withChecksum(bytes, sum - 2 ** 32), 3)
  })

  it('refuses numbers that are fewer than the values', () => {
    const numbers = (type: ParquetType, bytes: Uint8Array) => {
      const column = node('n', 'REQUIRED')
      const path = [ROOT, { ...column, element: { ...column.element, type } }]
      check(bytes, 4, path, { type })
    }
    const plain = [...new Uint8Array(16)]
    numbers('INT32', page(4, plain))
    numbers('INT32', page(4, deltas(4, 5), undefined, 5))
    numbers('BOOLEAN', page(4, [2, 0, 0, 0, 8, 1], undefined, 3))
    for (const [type, bytes] of [
      ['INT32', page(4, plain.slice(1))],
      ['INT64', page(4, plain)],
      ['INT32', page(4, deltas(3, 5), undefined, 5)],
      ['INT32', page(4, [2, 8, 0], undefined, 3)],
      ['DOUBLE', page(4, deltas(4, 5), undefined, 5)],
      ['BOOLEAN', withDictionary(2, [1], page(4, [1, 8, 0, 0], undefined, INDEXES))],
      ['BOOLEAN', page(4, [2, 0, 0, 0, 8, 2], undefined, 3)],
    ] as const) {
      expect(() => numbers(type, bytes), type).toThrow(Error)
    }
  })

  it('refuses columns with other values than rows, or too many', () => {
    const bytes = page(3, levels(6, 0))
    expect(() => check(bytes, 3, OPTIONAL, {}, 4)).toThrow('3 values')
    expect(() => check(bytes, 2 ** 27)).toThrow('134217728 values')
    expect(() => check(bytes, 3, OPTIONAL, { codec: 'LZO' })).toThrow('LZO')
    expect(() => check(bytes, 3, OPTIONAL, { type: 'INT32' })).toThrow('another type')
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
            expect(error.message).toMatch(/its Parquet data cannot be read: (an?|it|its|the|two) /)
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
