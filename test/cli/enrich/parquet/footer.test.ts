import fc from 'fast-check'
import { parquetMetadata } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { describe, expect, it } from 'vitest'
import {
  addColumns,
  checkFooter,
  dropEmptyGroups,
  footerBytes,
  isEncrypted,
  keyValue,
  readFooter,
  type Struct,
  setKeyValue,
} from '../../../../src/cli/enrich/parquet/footer.ts'

/** A file of two row groups, with lists of more than 14 items, all kinds of integers, and a text of a program. */
const FILE = new Uint8Array(
  parquetWriteBuffer({
    columnData: Array.from({ length: 20 }, (_, index) => ({
      name: `column_${index}`,
      data: [index, -index, null],
      type: index % 2 === 0 ? 'DOUBLE' : 'INT32',
    })),
    rowGroupSize: 2,
    kvMetadata: [
      { key: 'a', value: 'ü' },
      { key: 'b', value: 'x' },
    ],
  }),
)

function footerOf(file: Uint8Array): Uint8Array {
  const length = new DataView(file.buffer, file.byteOffset).getUint32(file.length - 8, true)
  return file.subarray(file.length - 8 - length, file.length - 8)
}

const ADDED = new Uint8Array(
  parquetWriteBuffer({
    columnData: [{ name: 'more', data: ['x', 'y', 'z'], type: 'STRING' }],
    rowGroupSize: 2,
  }),
)

/** What another reader finds in a footer. */
function metadataOf(footer: Uint8Array) {
  const end = Buffer.alloc(8)
  end.writeUint32LE(footer.length)
  end.write('PAR1', 4)
  return parquetMetadata(Uint8Array.from(Buffer.concat([footer, end])))
}

/** The rows, of a file and of a row group alike. */
const ROWS = 3

/** A struct in a list of another one. */
function itemIn(struct: Struct, id: number, index: number): Struct {
  const value = struct.find((field) => field.id === id)?.value
  const item = typeof value === 'object' && 'items' in value ? value.items[index] : undefined
  if (!Array.isArray(item)) throw new RangeError(`no struct ${index} in field ${id}`)
  return item
}

const groupIn = (footer: Struct): Struct => itemIn(footer, 4, 0)

/** Changes a field to a stored number (zigzag), or removes it. */
function setField(struct: Struct, id: number, value: bigint | null): void {
  const at = struct.findIndex((field) => field.id === id)
  const field = struct[at]
  if (value === null || field === undefined) struct.splice(at, 1)
  else field.value = value
}

describe('a footer', () => {
  it('is written as it was read', () => {
    for (const file of [FILE, ADDED])
      expect(Buffer.from(footerBytes(readFooter(footerOf(file))))).toEqual(Buffer.from(footerOf(file)))
  })

  it('keeps fields of types and numbers that no version has', () => {
    // Field 200: a double. Field 201: a set of booleans. Field 202: an 8-bit integer.
    const more = [0x07, 0x90, 0x03, 1, 2, 3, 4, 5, 6, 7, 8, 0x1a, 0x21, 1, 2, 0x13, 9, 0]
    const bytes = Buffer.concat([footerOf(FILE).subarray(0, -1), Uint8Array.from(more)])
    expect(Buffer.from(footerBytes(readFooter(bytes)))).toEqual(bytes)
  })

  it('names the texts of programs', () => {
    const footer = readFooter(footerOf(FILE))
    expect([keyValue(footer, 'a'), keyValue(footer, 'c'), isEncrypted(footer)]).toEqual([
      'ü',
      undefined,
      false,
    ])
    setKeyValue(footer, 'a', 'changed')
    setKeyValue(footer, 'b', null)
    expect(metadataOf(footerBytes(footer)).key_value_metadata).toEqual([{ key: 'a', value: 'changed' }])
  })

  it('gets the columns of another file, at the places to which their bytes have moved', () => {
    const before = metadataOf(footerOf(FILE))
    const added = metadataOf(footerOf(ADDED)).row_groups
    const footer = readFooter(footerOf(FILE))
    addColumns(footer, readFooter(footerOf(ADDED)), 2 ** 40)
    const after = metadataOf(footerBytes(footer))
    expect(after.schema).toHaveLength(before.schema.length + 1)
    expect(after.schema[0]?.num_children).toBe(21)
    for (const [index, group] of after.row_groups.entries()) {
      const own = added[index]?.columns[0]?.meta_data
      expect(group.columns.slice(0, 20)).toEqual(before.row_groups[index]?.columns)
      expect(group.columns[20]?.meta_data?.data_page_offset).toBe((own?.data_page_offset ?? 0n) + 2n ** 40n)
      expect(group.total_byte_size).toBe(
        (before.row_groups[index]?.total_byte_size ?? 0n) + (own?.total_uncompressed_size ?? 0n),
      )
    }
  })

  it('loses row groups without rows, and no others', () => {
    const footer = readFooter(footerOf(FILE))
    dropEmptyGroups(footer)
    expect(Buffer.from(footerBytes(footer))).toEqual(Buffer.from(footerOf(FILE)))
  })

  it.each<[string, (footer: Struct) => void, string]>([
    ['a row group says that it has no rows', (footer) => setField(groupIn(footer), ROWS, 0n), 'other rows'],
    ['the file says that it has more rows', (footer) => setField(footer, ROWS, 8n), 'other rows'],
    ['a row group has less than no rows', (footer) => setField(groupIn(footer), ROWS, 1n), 'how many rows'],
    ['a row group does not say its rows', (footer) => setField(groupIn(footer), ROWS, null), 'how many rows'],
    ['the file does not say its rows', (footer) => setField(footer, ROWS, null), 'how many rows'],
    [
      'the file says its rows twice',
      (footer) => void footer.push(...footer.filter(({ id }) => id === ROWS)),
      'how many rows',
    ],
    ['a column has no name', (footer) => setField(itemIn(footer, 2, 1), 4, null), 'without a name'],
  ])('is refused if %s', (_, damage, message) => {
    const footer = readFooter(footerOf(FILE))
    expect(() => checkFooter(footer)).not.toThrow()
    damage(footer)
    expect(() => checkFooter(footer)).toThrow(message)
  })

  it('is refused in finite time if it is damaged', () => {
    const whole = footerOf(FILE)
    for (let length = 0; length < whole.length; length++)
      expect(() => readFooter(whole.subarray(0, length))).toThrow('its footer is damaged')
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          readFooter(bytes)
        } catch (error) {
          expect(error).toHaveProperty('message', 'its footer is damaged')
        }
      }),
    )
    // Structs in structs, and a list of 2 ** 62 items.
    expect(() => readFooter(new Uint8Array(10_000).fill(0x1c))).toThrow('its footer is damaged')
    const endless = Uint8Array.of(0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f)
    expect(() => readFooter(endless)).toThrow('its footer is damaged')
  })
})
