import { describe, expect, it } from 'vitest'
import { DataSectionEncoder } from '../../../src/mmdb/writer/database-encoder.ts'
import { double, type WritableValue } from '../../../src/mmdb/writer/value.ts'
import { ValueTable } from '../../../src/mmdb/writer/value-table.ts'

/** Encodes records in order. Returns their bytes in hexadecimal. */
function written(records: readonly WritableValue[], pointers = true): string[] {
  const values = new ValueTable()
  const section = new DataSectionEncoder(values, { pointers })
  const starts = records.map((record) => section.offsetOf(values.add(record)))
  const hex = Buffer.from(section.bytes).toString('hex')
  return starts.map((start, index) => hex.slice(start * 2, (starts[index + 1] ?? section.bytes.length) * 2))
}

describe('DataSectionEncoder', () => {
  it.each<[string, WritableValue[], string[]]>([
    ['a repeated text, as a shorter pointer', ['abc', ['abc']], ['43616263', '01042000']],
    ['a text that is not longer than a pointer, in place', ['a', ['a']], ['4161', '01044161']],
    ['bytes, like text', [Uint8Array.of(1, 2, 3), [Uint8Array.of(1, 2, 3)]], ['83010203', '01042000']],
    ['maps and arrays', [{ a: 1 }, [{ a: 1 }]], ['e14161a101', '01042000']],
    [
      'numbers in a record, in place',
      [[double(1.5), double(1.5)]],
      [`0204${'683ff8000000000000'.repeat(2)}`],
    ],
    ['a number that is also a record', [double(1.5), [double(1.5)]], ['683ff8000000000000', '01042000']],
    ['a short number, always in place', ['abc', 0, [0]], ['43616263', 'a0', '0104a0']],
    [
      'a text at the last offset of short pointers',
      ['x'.repeat(2044), 'abcd', ['abcd']],
      [`5e06df${'78'.repeat(2044)}`, '4461626364', '010427ff'],
    ],
    [
      'a text after it',
      ['x'.repeat(2045), 'abcd', ['abcd']],
      [`5e06e0${'78'.repeat(2045)}`, '4461626364', '0104280000'],
    ],
    [
      'a text there that is not longer than a pointer of three bytes',
      ['x'.repeat(2045), 'ab', ['ab']],
      [`5e06e0${'78'.repeat(2045)}`, '426162', '0104426162'],
    ],
  ])('writes %s', (_, records, expected) => {
    expect(written(records)).toEqual(expected)
  })

  it('writes no pointers if the option is off', () => {
    expect(written(['abc', ['abc', 'abc']], false)).toEqual(['43616263', '02044361626343616263'])
  })
})
