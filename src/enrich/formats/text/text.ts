import { quoted } from '../../../errors.ts'
import { OptionError, wrongOption } from '../../../option-names.ts'
import { EnrichError } from '../../errors.ts'
import { ANNOTATION } from '../../line-options.ts'
import { NO_TIME } from '../../locating/event-time.ts'
import { OpeningTime, type OpeningTimeKind } from '../../locating/opening-time.ts'
import {
  ALL_FIELDS,
  ASN_FIELDS,
  addedMembers,
  commonPlan,
  type LineOptions,
  type LocationField,
  type Planned,
} from '../../options.ts'
import { refuseTaken } from '../../reading/chosen-fields.ts'
import { plainLayout } from '../../reading/layout.ts'
import { firstLines, type LineRange, type Sample } from '../../reading/sample.ts'
import { fieldText } from '../../writing/column-templates.ts'
import type { LocationTemplate } from '../../writing/location-template.ts'
import { ADDRESS_MARK, appendPlan, lineForm } from '../../writing/record-form.ts'
import type { FormatDefinition, InputFacts } from '../format-definition.ts'
import { CLIENT, PLAIN } from './address-role.ts'
import { addressesOfLines, FEW, LINES, looksLikeText } from './text-guess.ts'
import { type TextPlan, TextReader } from './text-reader.ts'

const ANNOTATION_WITH_SYSTEM = '{ip} [{country_code} {city}, {asn_organization}]'

const ADDRESS = String.fromCharCode(ADDRESS_MARK)
const IP = 'ip'

/** What stands between two values, and is left out beside one that is unknown: blanks and these marks. */
const SEPARATOR = /^[\s,;:/|·–-]*$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get into a line or a terminal
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g
const PLACEHOLDER = /\{([^{}]*)\}/

/** A value of an annotation, and the text before it. */
interface Part {
  readonly before: string
  readonly value: LocationField | typeof IP
}

/**
 * Reads an annotation, such as `{ip} [{country_code} {city}]`: its values, and the text after the last one.
 *
 * @throws TypeError when it does not have `{ip}` once and a field, has another name in braces, or a control character
 */
function parsed(text: string): { parts: Part[]; after: string } {
  const known = ALL_FIELDS.map((field) => `{${field}}`).join(', ')
  // Texts are at even indexes, and names at odd ones.
  const pieces = text.split(PLACEHOLDER)
  const parts = pieces.flatMap((name, index): Part[] => {
    if (index % 2 === 0) return []
    const value = name === IP ? IP : ALL_FIELDS.find((field) => field === name)
    if (value !== undefined) return [{ before: pieces[index - 1] ?? '', value }]
    throw wrongOption`<annotate> has {${name}}, which is none of {ip}, ${known}`
  })
  if (parts.filter(({ value }) => value === IP).length !== 1 || parts.length === 1) {
    throw wrongOption`<annotate> must have {ip} once, and one or more of ${known}`
  }
  if (text.replace(CONTROLS, '') !== text) throw wrongOption`<annotate> must be one line of text`
  return { parts, after: pieces.at(-1) ?? '' }
}

/**
 * The template that writes an annotation, with `ADDRESS_MARK` for the address. It writes nothing for a location that knows none of
 * the values.
 *
 * An unknown value is left out, and so is a separator that is not between two known ones: `[GB]` and not `[GB ]`. Control
 * characters in values become blanks.
 *
 * @throws TypeError when the annotation is wrong
 */
function annotationTemplate(text: string): LocationTemplate {
  const { parts, after } = parsed(text)
  const fields = parts.flatMap(({ value }) => (value === IP ? [] : [value]))
  const rendered = (textFor: (field: LocationField) => string): string => {
    if (fields.every((field) => textFor(field) === '')) return ''
    let written = ''
    let isAfterValue = false
    for (const [index, { before, value }] of parts.entries()) {
      const known = value === IP ? ADDRESS : textFor(value)
      const isSeparator = index > 0 && SEPARATOR.test(before)
      if (!isSeparator) isAfterValue = false
      if (!isSeparator || (isAfterValue && known !== '')) written += before
      written += known
      isAfterValue ||= known !== ''
    }
    return written + after
  }
  const plain = (value: string | null): string => (value ?? '').replace(CONTROLS, ' ').trim()
  return [
    {
      // The whole text depends on the offset, because of the separators beside it.
      from: 'location',
      hasOffset: fields.includes('timezone_offset'),
      text: (offset, location, locale) =>
        rendered((field) => plain(fieldText(field, location, locale, offset))),
    },
  ]
}

/** @throws TypeError when an option is wrong, or has no effect on the form of the output */
function textPlan(options: LineOptions & InputFacts): TextPlan {
  const common = commonPlan(options)
  const { to, nth, annotate, append = false, fields, into } = options
  const given = { annotate: annotate !== undefined, append, to: to !== undefined }
  const [form, another] = (['annotate', 'append', 'to'] as const).filter((name) => given[name])
  if (form !== undefined && another !== undefined)
    throw wrongOption`for text, use one of <${form}, ${another}>`
  if (fields !== undefined && !append && to === undefined) {
    throw wrongOption`for text, <fields> needs <append> or <to>; <annotate> names the values of a place`
  }
  if (into !== undefined && form !== 'to') throw wrongOption`for text, <into> needs <to>`
  if (common.trustedProxies !== null) {
    throw new OptionError(
      (nameOf) => `${nameOf('trustedProxies')} is not for text: each of its addresses stands alone`,
    )
  }
  const writtenAt = options.writtenAt ?? null
  const usual = common.asn === undefined ? ANNOTATION : ANNOTATION_WITH_SYSTEM
  const plan: TextPlan = {
    ...common,
    ...appendPlan(options, 'text'),
    format: 'text',
    annotate: form === undefined || form === 'annotate' ? (annotate ?? usual) : null,
    nth: nth ?? null,
    latest: common.at ?? writtenAt,
  }
  if (plan.annotate !== null) annotationTemplate(plan.annotate)
  const system = ASN_FIELDS.find((field) => plan.annotate?.includes(`{${field}}`))
  if (system !== undefined && plan.asn === undefined)
    throw wrongOption`<annotate> has {${system}}, which needs <asn>`
  return plan
}

/**
 * Makes the plan for lines of text.
 *
 * @throws EnrichError when a field is named, because the lines have none; and when lines become objects and `into` is
 *   the name of a member that they have
 * @throws TypeError, InvalidLocaleError when an option is wrong
 */
export function planText(sample: Sample, options: LineOptions & InputFacts): Planned<TextPlan> {
  const named = options.field ?? options.timeField
  if (named !== undefined) {
    throw new EnrichError(
      'ENRICH_FIELD_UNKNOWN',
      `the input is read as text, whose lines have no field ${quoted(named)}: name the format with --format (in a program: format), or the number of the address in each line with --nth (in a program: nth)`,
    )
  }
  const plan = textPlan(options)
  if (options.to !== undefined) refuseTaken(addedMembers(plan), ['ip'], 'a line has', 'member')
  const { annotate, nth } = plan
  const which = nth === null ? 'each public address' : `address ${nth} of each line`
  const form =
    annotate === null
      ? []
      : [`a place is added to ${which}, as ${annotate}. For objects: --to ndjson (in a program: to)`]
  return {
    plan,
    notes: [...form, ...choiceNotes(sample, plan), ...timeNotes(sample, plan)],
  }
}

/** Says that the client's address is not certain, if one address of each line counts and more than a few lines have several. */
function choiceNotes(sample: Sample, plan: TextPlan): string[] {
  const { nth, annotate, details, countries, onlyFailed, dropUnresolved } = plan
  const isOneChosen = annotate === null || details || countries || onlyFailed || dropUnresolved
  if (nth !== null || !isOneChosen) return []
  const named = new Set<LineRange>()
  const unnamed = new Map<LineRange, Set<string>>()
  for (const { line, text, address, role } of addressesOfLines(sample)) {
    if (role === CLIENT) named.add(line)
    else if (role === PLAIN && address.special === null)
      unnamed.set(line, (unnamed.get(line) ?? new Set()).add(text))
  }
  const several = [...unnamed].flatMap(([line, found]) =>
    found.size > 1 && !named.has(line) ? [[...found].slice(0, 2).join(' and ')] : [],
  )
  const lines = firstLines(sample, LINES)
  if (several.length * FEW < lines.length || several.length === 0) return []
  return [
    `${several.length} of the first ${lines.length} lines have several public addresses that can be the client's, such as ${several[0]}: the first of each line counts. For the second: --nth 2 (in a program: nth)`,
  ]
}

/** What is not certain about the times of the lines, if the output or the report depends on them. */
function timeNotes(sample: Sample, plan: TextPlan): string[] {
  const hasOffset =
    plan.annotate?.includes('{timezone_offset}') ?? plan.fields?.includes('timezone_offset') ?? true
  if (!hasOffset && !plan.details) return []
  const kinds = new Set<OpeningTimeKind>()
  const time = new OpeningTime(plan.latest ?? NO_TIME)
  for (const { start, end } of firstLines(sample, LINES)) kinds.add(time.read(sample.bytes, start, end))
  const notes: string[] = []
  if (kinds.has('yearless')) {
    const from =
      plan.at === null ? 'when the file was last written; --at gives another time' : 'the time of --at'
    notes.push(
      plan.latest === null
        ? 'its times have no year, and are not read: say when the log ended, as in --at 2026-07-01 (in a program: at)'
        : `its times have no year: the latest is used in which they are not after ${new Date(plan.latest).toISOString()}, ${from}`,
    )
  }
  if (kinds.has('local') || (kinds.has('yearless') && plan.latest !== null)) {
    notes.push(
      'its times have no offset from UTC: the offset of a place is unknown within hours of a change of its clocks',
    )
  }
  return notes
}

export const TEXT: FormatDefinition<TextPlan> = {
  name: 'text',
  title: 'any other text with addresses in it: syslog, auth.log, mail and error logs, HAProxy, iptables',
  example: 'Jul  1 12:00:00 web sshd[7]: Failed password for root from 81.2.69.142 port 51234 ssh2',
  requiredForRows: ['at'],
  recognise: looksLikeText,
  plan: planText,
  layout: plainLayout,
  addressPosition: ({ nth }) => (nth === null ? 'anywhere in the line' : `number ${nth} of the line`),
  form: (plan) => {
    if (plan.annotate === null) return lineForm(plan)
    return {
      kind: 'places',
      template: annotationTemplate(plan.annotate),
      head: null,
      before: '',
      nothing: '',
      rewrites: false,
    }
  },
  makeReader: (plan) => new TextReader(plan),
}
