import { quoted } from '../../errors.ts'
import { CARRIAGE_RETURN, HASH, LINE_FEED, SPACE, TAB } from '../ascii.ts'
import { EnrichError } from '../errors.ts'
import { addedMembers, type CommonPlan, commonPlan, type LineOptions, type Planned } from '../options.ts'
import { refuseTaken } from '../reading/chosen-fields.ts'
import { kindOfValue, SampleField } from '../reading/field-guess.ts'
import { plainLayout } from '../reading/layout.ts'
import { type ReaderField, type RecordKind, RecordReader } from '../reading/record-reader.ts'
import { type Sample, sampleLines } from '../reading/sample.ts'
import { looksLikeVersions } from '../reading/sample-times.ts'
import { type AppendPlan, appendPlan, lineForm } from '../writing/record-form.ts'
import type { FormatDefinition } from './format-definition.ts'

export interface ListPlan extends CommonPlan, AppendPlan {
  readonly format: 'list'
}

/** Lines checked, without blank lines and comments. More than half must be addresses. */
const LINES = 50
const COMMENT = '#'

/**
 * Whether the first line that is neither blank nor a comment is an address, and so are more than half of the lines
 * checked. A sample without such a line is a list. Versions of four numbers are not addresses.
 */
export function looksLikeList(sample: Uint8Array): boolean {
  const lines = sampleLines({ bytes: sample })
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith(COMMENT))
  const looked = lines.slice(0, LINES)
  const addresses = looked.filter((line) => kindOfValue(line) === 'address')
  // A CSV file of one column can have a name above the addresses, so the first line must be an address too.
  if (looked.length === 0) return true
  return looked[0] === addresses[0] && addresses.length * 2 > looked.length && !looksLikeVersions(lines)
}

/**
 * Makes the plan for a list of addresses, one address a line.
 *
 * @throws EnrichError when a field is named, because the lines have none; and when lines become objects and `into` is
 *   the name of a member that they have
 * @throws TypeError, InvalidLocaleError when an option is wrong
 */
export function planList(sample: Sample, options: LineOptions): Planned<ListPlan> {
  const common = commonPlan(options)
  const append = appendPlan(options, 'list')
  const { field, timeField } = options
  const named = field ?? timeField
  if (named !== undefined) {
    throw new EnrichError('ENRICH_FIELD_UNKNOWN', `the lines of a list have no field ${quoted(named)}`)
  }
  if (!append.append) refuseTaken(addedMembers(common), ['ip'], 'a line has', 'member')
  const addresses = new SampleField([])
  for (const line of sampleLines(sample)) addresses.add(line.trim())
  return { plan: { ...common, ...append, format: 'list', hasPort: addresses.hasPort }, notes: [] }
}

/**
 * Reads lists of addresses, one address a line. Spaces, tabs and carriage returns around an address are ignored. Lines of only
 * these are blank, and so are comments, which start with `#`. Any other line is an address, possibly a malformed one: no line is
 * bad. A usual line is an address in one plain word and nothing else.
 */
class ListReader extends RecordReader {
  override readonly hasUsual = true
  override readonly fields: readonly ReaderField[] = [{ name: 'ip', kind: 'text' }]
  override readonly starts = new Int32Array(1)
  override readonly ends = new Int32Array(1)

  override usual(bytes: Uint8Array, _: DataView, start: number): number {
    if (bytes[start] === HASH) return -1
    const end = this.addressBefore(bytes, start, LINE_FEED)
    this.useBytes(bytes, start, end)
    this.isPlain = true
    this.starts[0] = start
    this.ends[0] = end
    return end
  }

  read(bytes: Uint8Array, start: number, end: number): RecordKind {
    let first = start
    let last = end
    while (first < last && isBlank(bytes[first])) first++
    while (last > first && isBlank(bytes[last - 1])) last--
    if (first === last || bytes[first] === HASH) return 'blank'
    this.useBytes(bytes, start, end)
    this.isPlain = false
    this.addressStart = first
    this.addressEnd = last
    return 'read'
  }

  override find(): boolean {
    this.bytes = this.record
    this.start = this.addressStart
    this.end = this.addressEnd
    return true
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === CARRIAGE_RETURN
}

export const LIST: FormatDefinition<ListPlan> = {
  name: 'list',
  title: 'addresses, one a line',
  example: '81.2.69.142',
  requiredForRows: ['at'],
  recognise: looksLikeList,
  plan: planList,
  layout: plainLayout,
  addressPosition: () => 'alone on its line',
  form: lineForm,
  makeReader: () => new ListReader(),
}
