import assert from 'node:assert/strict'
import fc from 'fast-check'
import { RowStream } from '../../../src/enrich/row-stream.ts'
import { makeRowPlan, type RowOptions, RowWriter } from '../../../src/enrich/row-writer.ts'
import { AT, concatenated, latin1, worldSet } from '../../enrich/world.ts'
import { ips, piece } from '../enrich-input.ts'
import type { Target } from '../target.ts'

/** Plain data. */
interface RowsInput {
  readonly rows: Uint8Array
  readonly options: RowOptions
  /** Size of the chunks that the rows come in. */
  readonly chunkBytes: number
}

const ways = (['raw', 'keep'] as const).flatMap((onBadLine): RowOptions[] => [
  { format: 'tsv', quoting: 'none', field: '2', timeField: '1', onBadLine },
  { format: 'tsv', quoting: 'double', field: '1', at: AT, onBadLine },
  { format: 'csv', quoting: 'none', field: '1', at: AT, fields: ['city'], onBadLine },
  { format: 'csv', quoting: 'double', field: '2', timeField: '3', onBadLine },
  { format: 'ndjson', field: 'ip', timeField: 't', onBadLine },
  { format: 'ndjson', field: 'ip', at: AT, overwrite: true, onBadLine },
  { format: 'access-log', onBadLine },
  { format: 'access-log', append: true, onBadLine },
  { format: 'access-log', append: true, fields: ['timezone_offset', 'city'], onBadLine },
  { format: 'squid', onBadLine },
  {
    format: 'custom-log',
    logFormat: '$remote_addr - "$request"',
    append: true,
    fields: ['city', 'region_name'],
    onBadLine,
  },
  { format: 'list', at: AT, onBadLine },
  { format: 'list', at: AT, append: true, trustedProxies: ['loopback'], onBadLine },
])

const parts = fc.oneof(
  ips,
  piece,
  fc.constantFrom('\n', '\n', '\n', '\r\n', '\\\t', '\\N', '\\', '"\n"', 'x'.repeat(60)),
  fc.constantFrom('{"ip":"', '{"ip":"81.2.69.142"}', '"}', '"location":', ' - - ', '"GET / HTTP/1.1" 200 1'),
  fc.constantFrom('[01/Jan/2026:00:00:00 +0000]', '2026-01-01T00:00:00Z', '1782864000'),
  fc.string(),
)
const rows = fc
  .array(
    fc.oneof(
      parts.map((text) => new TextEncoder().encode(text)),
      fc.uint8Array({ maxLength: 8 }),
    ),
    {
      maxLength: 40,
    },
  )
  .map(concatenated)

const set = worldSet()
/** Made once for each way: an enricher keeps nothing of a row. */
const enrichers = new Map<string, RowWriter>()

function enricherOf(options: RowOptions): RowWriter {
  const key = JSON.stringify(options)
  const enricher = enrichers.get(key) ?? new RowWriter(makeRowPlan(options), set)
  enrichers.set(key, enricher)
  return enricher
}

function outputOf(enricher: RowWriter, input: Uint8Array, chunkBytes: number): string {
  const stream = new RowStream(enricher, { read: false, write: false })
  const outputs: Uint8Array[] = []
  for (let at = 0; at < input.length; at += chunkBytes) {
    outputs.push(...stream.push(input.subarray(at, at + chunkBytes)))
  }
  return latin1(concatenated([...outputs, ...stream.end()]))
}

/** Rows of `--rows`: as many as there were, each read by itself. */
export const rowsTarget: Target<RowsInput> = {
  name: 'rows',
  inputs: fc.record({
    rows,
    options: fc
      .tuple(fc.constantFrom(...ways), fc.constantFrom(1, 20, 100))
      .map(([way, maxLineBytes]) => ({ ...way, maxLineBytes })),
    chunkBytes: fc.integer({ min: 1, max: 99 }),
  }),
  shortRuns: 1500,
  check({ rows: input, options, chunkBytes }) {
    const enricher = enricherOf(options)
    const output = outputOf(enricher, input, Math.max(input.length, 1))
    const before = latin1(input).split('\n')
    const after = output.split('\n')
    assert.equal(after.length, before.length, 'rows have come or gone')
    assert.ok(!/\r(?!\n|$)/.test(output), 'a carriage return is inside a row')
    assert.equal(outputOf(enricher, input, chunkBytes), output, 'the output depends on the chunks')
    for (const [index, row] of before.entries()) {
      const isLast = index === before.length - 1
      // Without a line feed, nothing is no row.
      if (isLast && row === '') continue
      const alone = outputOf(enricher, Buffer.from(`${row}${isLast ? '' : '\n'}`, 'latin1'), 1000)
      assert.equal(alone, `${after[index]}${isLast ? '' : '\n'}`, 'a row depends on the others')
      checkRow(row, after[index] ?? '', options)
    }
  },
}

function checkRow(
  row: string,
  enriched: string,
  { format, quoting, append, fields, onBadLine }: RowOptions,
): void {
  const columns = fields?.length ?? 10
  if (quoting === 'none') {
    const delimiter = format === 'tsv' ? '\t' : ','
    // A backslash that escapes nothing is completed.
    const escaped = row.replace(/\\[^\r]|[\\\r]/g, (text) => (text === '\r' ? '\\r' : text.padEnd(2, '\\')))
    assert.ok(enriched.startsWith(escaped), 'the row is not kept')
    const added = enriched.slice(escaped.length).match(/(?:^|[^\\])(?:\\\\)*[\t,]/g) ?? []
    assert.equal(
      added.filter((text) => text.endsWith(delimiter)).length,
      columns,
      'another number of columns',
    )
  } else if (append === true && fields !== undefined && onBadLine === 'raw') {
    const kept = row.replace(/\r$/, '').replaceAll('\r', ' ')
    assert.match(enriched.slice(kept.length), /^\t[^\t]*\t[^\t]*$/, 'another number of columns')
  } else if (quoting === undefined && append !== true && onBadLine === 'raw') {
    const value: unknown = JSON.parse(Buffer.from(enriched, 'latin1').toString())
    assert.ok(typeof value === 'object' && value !== null && 'location' in value, 'no object with a location')
  }
}
