import { wrongOption } from '../../../option-names.ts'
import { addedMembers, type CommonPlan, commonPlan, type LineOptions, type Planned } from '../../options.ts'
import {
  chosenAddress,
  chosenTime,
  NumberedField,
  numberedFields,
  refuseTaken,
} from '../../reading/chosen-fields.ts'
import { kindOfValue } from '../../reading/field-guess.ts'
import { firstLines } from '../../reading/sample.ts'
import { RAW } from '../../writing/json-text.ts'
import { type AppendPlan, appendPlan } from '../../writing/record-form.ts'
import { type Pattern, patternOf } from './directive.ts'
import { isNumberField, PatternReader, PatternTime, REST, type WantedFields } from './pattern-reader.ts'

export interface PatternPlan extends CommonPlan, AppendPlan, WantedFields {
  readonly format: string
  readonly pattern: Pattern
}

/** The field of the client's address in the patterns of known programs. */
const CLIENT = 'client_ip'

/** Lines that a format is recognised by. More than half must fit. */
const LINES = 50

/**
 * Plans lines that are written by a pattern.
 *
 * @param known the pattern of the format; `null` if the option `logFormat` has it
 * @throws EnrichError when the pattern has no field for the address, or has the one that would be added
 * @throws TypeError, InvalidLocaleError when an option is wrong
 */
export function planPattern(
  sample: Uint8Array,
  isWhole: boolean,
  options: LineOptions,
  format: string,
  known: Pattern | null,
): Planned<PatternPlan> {
  const common = commonPlan(options)
  const append = appendPlan(options, format)
  const { logFormat, timeField } = options
  if (known === null && logFormat === undefined) {
    throw wrongOption`<logFormat> must be given for the format ${format}`
  }
  const pattern = known ?? patternOf(logFormat ?? '')
  const names = pattern.fields.map(({ name }) => name)
  if (!append.append) refuseTaken(addedMembers(common), [...names, RAW, REST], 'a line has', 'field')
  const notes: string[] = []
  const fields = fieldsOf(sample, isWhole, pattern)
  // Known programs write the client's address always in the same field.
  const field = options.field ?? (known === null ? undefined : CLIENT)
  const sampled = numberedFields(fields)
  const address = chosenAddress(field, sampled, common, notes)
  const time =
    timeField === undefined ? timeIn(fields, sample, isWhole, pattern) : chosenTime(timeField, sampled, notes)
  if (time !== null && timeField === undefined)
    notes.push(`the time of the event is in the field ${time.name}`)
  return {
    plan: {
      ...common,
      ...append,
      format,
      pattern,
      hasPort: address.hasPort,
      address: address.index,
      time: time?.index ?? null,
    },
    notes,
  }
}

/** Calls back for each line of the sample that fits the pattern. @returns how many lines there are */
function eachLine(
  sample: Uint8Array,
  isWhole: boolean,
  pattern: Pattern,
  most: number,
  take: (value: (field: number) => string, line: PatternReader) => void,
): number {
  const line = new PatternReader(pattern)
  const decoder = new TextDecoder()
  const lines = firstLines(sample, isWhole, most)
  for (const { start, end } of lines) {
    if (line.read(sample, start, end) === 'read') {
      take((field) => decoder.decode(sample.subarray(line.starts[field], line.ends[field])), line)
    }
  }
  return lines.length
}

function fieldsOf(sample: Uint8Array, isWhole: boolean, pattern: Pattern): NumberedField[] {
  const fields = pattern.fields.map(({ name }, index) => new NumberedField(name, index))
  eachLine(sample, isWhole, pattern, 1000, (value) => {
    for (const field of fields) field.add(value(field.index))
  })
  return fields
}

/** Names of fields with a time, best first. */
const TIMES = ['time_iso8601', 'msec', 'time_local', 'time', 'timestamp', 'date_time']

/** The field with the time, by its name, and by its values if the sample has any. */
function timeIn(
  fields: readonly NumberedField[],
  sample: Uint8Array,
  isWhole: boolean,
  pattern: Pattern,
): NumberedField | null {
  const reader = new PatternTime()
  const usual = TIMES.flatMap((name) => fields.find((each) => each.name === name) ?? [])
  const found = usual.find((field) => {
    let readable = 0
    let lines = 0
    eachLine(sample, isWhole, pattern, LINES, (_, { starts, ends }) => {
      lines++
      if (!Number.isNaN(reader.read(sample, starts[field.index] ?? 0, ends[field.index] ?? 0))) readable++
    })
    return readable * 2 >= lines
  })
  return found ?? null
}

/** Earlier times are numbers that mean something else, such as the day of a month. */
const EARLIEST = Date.UTC(2000)
/** A number, or `-` for a missing one. */
const NUMBER = /^(?:-|-?\d+)$/

/**
 * Whether more than half of the first lines fit a pattern and have a time, numbers, and an address or `-` where the pattern
 * has them, and one of the lines has an address. Words alone prove nothing: lines of other programs have as many.
 */
export function looksLikePattern(sample: Uint8Array, pattern: Pattern): boolean {
  const time = new PatternTime()
  const indexOf = (wanted: string): number => pattern.fields.findIndex(({ name }) => name === wanted)
  const [at, client] = [indexOf('time'), indexOf(CLIENT)]
  const numbers = numbersOf(pattern)
  let fitting = 0
  let located = 0
  const lines = eachLine(sample, false, pattern, LINES, (value, { starts, ends }) => {
    if (!(time.read(sample, starts[at] ?? 0, ends[at] ?? 0) >= EARLIEST)) return
    const kind = kindOfValue(value(client))
    if (kind === 'other' || !numbers.every((field) => NUMBER.test(value(field)))) return
    fitting++
    if (kind !== 'missing') located++
  })
  return fitting * 2 > lines && located > 0
}

function numbersOf({ fields }: Pattern): number[] {
  return fields.flatMap(({ name }, index) => (isNumberField(name) ? [index] : []))
}
