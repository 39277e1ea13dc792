import fc from 'fast-check'
import {
  ALPHABET,
  checkKept,
  type EnrichInput,
  enriched,
  enrichInputs,
  ips,
  linesOf,
  piece,
} from '../enrich-input.ts'
import { mutatedText } from '../mutation.ts'
import type { Target } from '../target.ts'

const name = fc.constantFrom(...'c-ip id.orig_h srcaddr time date ts start x cs(User-Agent)'.split(' '))
const word = fc.oneof(
  { weight: 4, arbitrary: ips },
  fc.constantFrom('-', '(empty)', '2026-07-01', '10:00:00', '1782864007.25', '"a b"', '"', 'x'),
  piece,
)
const words = (of: fc.Arbitrary<string>, separator: string): fc.Arbitrary<string> =>
  fc.array(of, { minLength: 1, maxLength: 6 }).map((each) => each.join(separator))

const w3cLine = fc.oneof(
  words(name, ' ').map((names) => `#Fields: ${names}`),
  fc.constantFrom('#Date: 2026-07-01 10:00:00', '#Date: x', '#Version: 1.0', '#Fields:', '#', ''),
  { weight: 4, arbitrary: fc.constantFrom(' ', '\t').chain((separator) => words(word, separator)) },
)
const zeekLine = fc.oneof(
  fc
    .constantFrom('\t', '|')
    .chain((separator) => words(name, separator).map((names) => `#fields${separator}${names}`)),
  fc.constantFrom(
    '#separator \\x09',
    '#separator |',
    '#unset_field\tnone',
    '#empty_field\t(e)',
    '#types\taddr',
    '#close',
  ),
  { weight: 4, arbitrary: fc.constantFrom('|', '\t').chain((separator) => words(word, separator)) },
)
const file = (head: string, line: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  linesOf(fc.constant(head), line)
const texts = fc.oneof(
  file('#Fields: c-ip time x\n', w3cLine),
  file('#separator \\x09\n#fields\tts\tid.orig_h\n', zeekLine),
  file('version srcaddr start x\n', words(word, ' ')),
)

const options = fc.record(
  {
    format: fc.constantFrom('w3c' as const, 'zeek' as const, 'ssv' as const),
    fields: fc.constantFrom(['city'] as const, ['timezone_offset', 'postal_code', 'country_name'] as const),
    trustedProxies: fc.constant(['10.0.0.0/8']),
    field: fc.constantFrom('1', '2', 'x'),
    timeField: fc.constantFrom('time', '3'),
  },
  { requiredKeys: ['format'] },
)

/** Logs whose lines name their columns: lines keep their bytes, and get fields or nothing. */
export const headed: Target<EnrichInput> = {
  name: 'headed',
  formats: ['w3c', 'zeek', 'ssv'],
  inputs: enrichInputs(fc.oneof({ weight: 3, arbitrary: texts }, mutatedText(texts, ALPHABET)), options),
  shortRuns: 400,
  check(input) {
    const run = enriched(input)
    if (run === null || !('isClock' in run.plan)) return
    const { delimiter, fields } = run.plan
    checkKept(
      input.bytes,
      run.output,
      (added, before) => before.startsWith('#') || added.startsWith(String.fromCharCode(delimiter)),
    )
    assertFields(input.bytes, run.output, String.fromCharCode(delimiter), fields.length)
  },
}

/** No value that is added holds a separator: each line has as many fields more as were asked for, or none. */
function assertFields(input: Uint8Array, output: Uint8Array, separator: string, added: number): void {
  const count = (bytes: Uint8Array): number[] =>
    Buffer.from(bytes)
      .toString('latin1')
      .split('\n')
      .map((line) => (line.startsWith('#') ? 0 : line.split(separator).length))
  const before = count(input)
  for (const [index, fields] of count(output).entries()) {
    const more = fields - (before[index] ?? 0)
    if (more !== 0 && more !== added)
      throw new Error(`line ${index + 1} has ${more} fields more, not ${added}`)
  }
}
