import { quoted } from '../../address/quoted.ts'
import type { ByteSink } from '../byte-sink.ts'
import { EnrichError } from '../errors.ts'
import { kindOfValue } from '../guess.ts'
import { JsonText, jsonRoom } from '../json-text.ts'
import { type LineFormat, type LineResult, RAW } from '../line-format.ts'
import type { LineLocator } from '../line-locator.ts'
import { type CommonPlan, commonPlan, type EnrichOptions, type Planned } from '../options.ts'
import { firstLines } from '../sample.ts'
import type { FormatDefinition } from './format-definition.ts'

export interface ListPlan extends CommonPlan {
  readonly format: 'list'
  /** Whether lines are kept, and the location is put behind them. */
  readonly append: boolean
}

/** Lines looked at, of which most must be addresses. */
const LINES = 50
/** Lines looked at with comments among them. */
const MOST_LINES = 1000
const COMMENT = '#'

/** Whether the first line with something on it is an address, and so are most. An input without any is a list. */
export function looksLikeList(sample: Uint8Array): boolean {
  const looked = withoutComments(sample)
  const addresses = looked.filter((line) => kindOfValue(line) === 'address')
  // The name of the only column of a CSV file may be above addresses.
  return looked.length === 0 || (looked[0] === addresses[0] && addresses.length * 2 > looked.length)
}

/**
 * Plans for a list of addresses, one a line.
 *
 * @throws EnrichError when a field is named: the lines have none
 * @throws TypeError, InvalidLocaleError when an option is wrong
 */
export function planList(_sample: Uint8Array, _isWhole: boolean, options: EnrichOptions): Planned<ListPlan> {
  const common = commonPlan(options)
  const { field, timeField, append = false } = options
  const named = field ?? timeField
  if (named !== undefined) {
    throw new EnrichError('ENRICH_FIELD_UNKNOWN', `the lines of a list have no field ${quoted(named)}`)
  }
  if (!append && (common.into === 'ip' || common.into === RAW)) {
    throw new EnrichError(
      'ENRICH_FIELD_EXISTS',
      `a line has a member ${quoted(common.into)} already: choose another name for what is added`,
    )
  }
  return { plan: { ...common, format: 'list', append }, notes: [] }
}

function withoutComments(sample: Uint8Array): string[] {
  const decoder = new TextDecoder()
  return firstLines(sample, false, MOST_LINES)
    .map(({ start, end }) => decoder.decode(sample.subarray(start, end)).trim())
    .filter((line) => line !== '' && !line.startsWith(COMMENT))
    .slice(0, LINES)
}

const TAB = 0x09
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const HASH = 0x23
const CLOSE_BRACE = 0x7d

/**
 * Lists of addresses, one a line. Blanks around an address are no part of it; lines with nothing but blanks and
 * comments, from a `#` at the start, are blank. Any other line has an address, well or malformed: none is bad.
 *
 * A line becomes `{"ip":"…","location":…}`, or it is kept, and a tab and the location follow.
 */
export class ListLines implements LineFormat {
  readonly rewrites: boolean
  readonly fault = ''
  readonly #locator: LineLocator
  readonly #text = new JsonText()
  readonly #head: Uint8Array
  readonly #middle: Uint8Array
  readonly #null: Uint8Array

  constructor(plan: ListPlan, locator: LineLocator) {
    const encoder = new TextEncoder()
    this.rewrites = !plan.append
    this.#locator = locator
    this.#head = encoder.encode('{"ip":"')
    this.#middle = encoder.encode(`",${JSON.stringify(plan.into)}:`)
    this.#null = encoder.encode('null')
  }

  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    let first = start
    let last = end
    while (first < last && isBlank(bytes[first])) first++
    while (last > first && isBlank(bytes[last - 1])) last--
    if (first === last || bytes[first] === HASH) return 'blank'
    const isLocated = this.#locator.locate(bytes, first, last)
    if (this.rewrites) {
      const into = out.room(this.#head.length + jsonRoom(last - first) + this.#middle.length)
      const behind = this.#text.put(bytes, first, last, into, put(this.#head, into, out.length))
      out.length = put(this.#middle, into, behind)
    } else {
      out.writeRange(bytes, start, end)
      out.writeByte(TAB)
    }
    if (isLocated) this.#locator.writeJson(out)
    else out.write(this.#null)
    if (this.rewrites) out.writeByte(CLOSE_BRACE)
    return isLocated ? 'resolved' : 'unresolved'
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === CARRIAGE_RETURN
}

/** Writes a short text. @returns where it ends */
function put(text: Uint8Array, into: Uint8Array, at: number): number {
  for (let from = 0; from < text.length; from++) into[at + from] = text[from] ?? 0
  return at + text.length
}

export const LIST: FormatDefinition<ListPlan> = {
  name: 'list',
  options: ['into', 'append'],
  recognise: looksLikeList,
  plan: planList,
  quotedDelimiter: () => null,
  addressPosition: () => 'alone on its line',
  makeLines: (plan, locator) => new ListLines(plan, locator),
}
