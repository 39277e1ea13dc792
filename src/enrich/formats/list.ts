import type { ByteSink } from '../../bytes/byte-sink.ts'
import { quoted } from '../../errors.ts'
import { EnrichError } from '../errors.ts'
import type { LineLocator } from '../locating/line-locator.ts'
import { type CommonPlan, commonPlan, type LineOptions, type Planned } from '../options.ts'
import { looksLikeVersions } from '../reading/address-evidence.ts'
import { refuseTaken } from '../reading/chosen-fields.ts'
import { kindOfValue, SampleField } from '../reading/field-guess.ts'
import { plainLayout } from '../reading/layout.ts'
import { sampleLines } from '../reading/sample.ts'
import { type AppendPlan, appendedNothing, appendPlan, appendTemplate } from '../writing/appended-location.ts'
import { JsonText, jsonRoom, RAW } from '../writing/json-text.ts'
import type { FormatDefinition, LineFormat, LineResult } from './format-definition.ts'
import type { FusedLoop } from './fused-loop.ts'
import { ListLoop } from './list-loop.ts'

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
  const lines = sampleLines(sample, false)
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
export function planList(sample: Uint8Array, isWhole: boolean, options: LineOptions): Planned<ListPlan> {
  const common = commonPlan(options)
  const append = appendPlan(options, 'list')
  const { field, timeField } = options
  const named = field ?? timeField
  if (named !== undefined) {
    throw new EnrichError('ENRICH_FIELD_UNKNOWN', `the lines of a list have no field ${quoted(named)}`)
  }
  if (!append.append) refuseTaken(common, ['ip', RAW], 'member')
  const addresses = new SampleField([])
  for (const line of sampleLines(sample, isWhole)) addresses.add(line.trim())
  return { plan: { ...common, ...append, format: 'list', hasPort: addresses.hasPort }, notes: [] }
}

const TAB = 0x09
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const HASH = 0x23

/**
 * Enriches lists of addresses, one address a line. Spaces, tabs and carriage returns around an address are ignored.
 * Lines of only these are blank, and so are comments, which start with `#`. Any other line is an address, possibly
 * a malformed one: no line is bad.
 *
 * A line becomes `{"ip":"…","location":…}`. With `append` it is kept, followed by its location.
 */
class ListLines implements LineFormat {
  readonly rewrites: boolean
  readonly fault = ''
  readonly #plan: ListPlan
  readonly #locator: LineLocator
  readonly #text = new JsonText()
  readonly #middle: Uint8Array
  readonly #isJson: boolean
  readonly #nothing: Uint8Array

  constructor(plan: ListPlan, locator: LineLocator) {
    this.rewrites = !plan.append
    this.#plan = plan
    this.#locator = locator
    this.#middle = new TextEncoder().encode(`",${JSON.stringify(plan.into)}:`)
    this.#isJson = plan.fields === null
    this.#nothing = appendedNothing(plan) ?? new Uint8Array(0)
  }

  makeLoop(): FusedLoop | null {
    return this.#locator.isPlain ? new ListLoop(this.#locator, this.#plan) : null
  }

  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    let first = start
    let last = end
    while (first < last && isBlank(bytes[first])) first++
    while (last > first && isBlank(bytes[last - 1])) last--
    if (first === last || bytes[first] === HASH) return 'blank'
    const isLocated = this.#locator.locate(bytes, first, last)
    if (!this.#locator.writesLines) return isLocated ? 'resolved' : 'unresolved'
    if (this.rewrites) {
      out.writeAscii('{"ip":"')
      out.length = this.#text.put(bytes, first, last, out.room(jsonRoom(last - first)), out.length)
      out.write(this.#middle)
      this.#locator.writeJson(out)
      out.writeAscii('}')
    } else {
      out.write(bytes, start, end)
      if (isLocated) {
        out.writeByte(TAB)
        if (this.#isJson) this.#locator.writeJson(out)
        else this.#locator.writeRendered(out)
      } else out.write(this.#nothing)
    }
    return isLocated ? 'resolved' : 'unresolved'
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === CARRIAGE_RETURN
}

export const LIST: FormatDefinition<ListPlan> = {
  name: 'list',
  title: 'addresses, one a line',
  example: '81.2.69.142',
  options: ['append'],
  requiredForRows: ['at'],
  recognise: looksLikeList,
  plan: planList,
  layout: plainLayout,
  addressPosition: () => 'alone on its line',
  locationTemplate: appendTemplate,
  appended: appendedNothing,
  makeLines: (plan, locator) => new ListLines(plan, locator),
}
