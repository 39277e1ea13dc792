import assert from 'node:assert/strict'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import type { TablePlan } from '../../../src/enrich/formats/delimited/table-reader.ts'
import { LOCATION_FIELDS } from '../../../src/enrich/options.ts'
import {
  ALPHABET,
  checkKept,
  type EnrichInput,
  enriched,
  enrichInputs,
  ips,
  lineEnd,
  piece,
} from '../enrich-input.ts'
import { mutatedText } from '../mutation.ts'
import type { Target } from '../target.ts'

const cell = fc.oneof(
  { weight: 5, arbitrary: ips },
  {
    weight: 3,
    arbitrary: fc.constantFrom('', 'a', 'x y', ' 1 ', 'a "b" c', '"', '"x', 'x"', 'long'.repeat(30)),
  },
  {
    weight: 4,
    arbitrary: fc
      .array(fc.oneof(piece, ips, fc.constant('a')), { maxLength: 4 })
      .map((parts) => `"${parts.join('').replaceAll('"', '""')}"`),
  },
  { weight: 1, arbitrary: ips.map((ip) => `"${ip}"`) },
)
const table = fc
  .record({
    mark: fc.constantFrom('', '', '\ufeff'),
    separator: fc.constantFrom('', '', '', 'sep=;\n', 'sep=,\r\n', '"sep=|"\n'),
    blanks: fc.constantFrom('', '', '\n', '\r\n', '\n\n', '\r', ' \n'),
    header: fc.constantFrom(
      '',
      ...'ip,a,b "ip",a ip a,"client\nip",b a,b ip;x;y ip\ta\tb city,ip'.split(' '),
    ),
    rows: fc.array(fc.tuple(fc.array(cell, { minLength: 1, maxLength: 4 }), lineEnd), { maxLength: 8 }),
    delimiter: fc.constantFrom(',', ',', ';', '\t', '|'),
    end: fc.constantFrom('\n', '\r\n', ''),
  })
  .map(({ mark, separator, blanks, header, rows, delimiter, end }) => {
    const lines = rows.map(([cells, behind]) => cells.join(delimiter) + behind)
    return `${mark}${separator}${blanks}${header.replaceAll(/[,;\t]/g, delimiter)}${end}${lines.join('')}`
  })

const options = fc.record(
  {
    format: fc.constantFrom('csv', 'csv', 'tsv'),
    field: fc.constantFrom('ip', '1', '2', 'a'),
    header: fc.boolean(),
    fields: fc.shuffledSubarray([...LOCATION_FIELDS], { minLength: 1, maxLength: 3 }),
    timeField: fc.constantFrom('a', '2'),
    locale: fc.constantFrom('en', 'de'),
    maxRecordLines: fc.constantFrom(1, 2, 6),
  },
  { requiredKeys: ['format'] },
)

export const delimited: Target<EnrichInput> = {
  name: 'delimited',
  formats: ['csv', 'tsv'],
  inputs: enrichInputs(fc.oneof({ weight: 3, arbitrary: table }, mutatedText(table, ALPHABET)), options),
  shortRuns: 400,
  check(input) {
    const run = enriched(input)
    if (run === null || !('maxRecordLines' in run.plan)) return
    const { plan, output, counts } = run
    const delimiter = String.fromCharCode(plan.delimiter)
    checkKept(input.bytes, output, (added) => added.startsWith(delimiter))
    const before = rowsOf(input.bytes, plan)
    if (before === null) return
    // Of a record over the bound each line is read by itself, also one that csv-parse has within quotes.
    const hasOnlyRecords =
      input.bytes.length <= plan.maxLineBytes && input.options.maxRecordLines === undefined
    if (!hasOnlyRecords && input.bytes.includes(0x22)) return
    const after = rowsOf(output, plan)
    assert.ok(after !== null, 'csv-parse reads the input and not the output')
    assert.equal(after.length, before.length)
    const added = plan.fields.length
    let kept = 0
    for (const [index, row] of before.entries()) {
      const now: readonly string[] = after[index] ?? []
      if (now.length === row.length) kept++
      assert.deepEqual(now.slice(0, row.length), row)
      assert.ok(now.length === row.length || now.length === row.length + added, 'too many cells')
      // The names of the columns are the first that is not blank.
      if (index === 0 && plan.headerLine > 0 && now.length > row.length) {
        assert.deepEqual(now.slice(row.length), [...plan.fields])
      }
    }
    if (hasOnlyRecords) assert.equal(kept, counts.bad, 'a row without columns is a bad one')
  },
}

/** @returns `null` where csv-parse refuses the file or reads line ends in another way */
function rowsOf(bytes: Uint8Array, { delimiter, quotes, hasSeparatorLine }: TablePlan): string[][] | null {
  // A carriage return that ends a file is a line end of ours.
  if (bytes.at(-1) === 0x0d) return null
  try {
    return parse(Buffer.from(bytes), {
      bom: true,
      from_line: hasSeparatorLine ? 2 : 1,
      delimiter: String.fromCharCode(delimiter),
      quote: quotes ? '"' : null,
      relax_column_count: true,
      skip_empty_lines: true,
      record_delimiter: ['\r\n', '\n'],
    })
  } catch {
    return null
  }
}
