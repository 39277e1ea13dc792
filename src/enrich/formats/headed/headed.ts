// Logs whose own lines name their columns: W3C Extended, Zeek, and tables separated by spaces.

import { wrongOption } from '../../../option-names.ts'
import { COMMA, HASH, SPACE } from '../../ascii.ts'
import { shownName } from '../../errors.ts'
import { kindOfValue } from '../../reading/field-guess.ts'
import { isAddressName } from '../../reading/known-names.ts'
import { plainLayout } from '../../reading/layout.ts'
import { sampleLines } from '../../reading/sample.ts'
import { columnsTemplate, wordsTemplate } from '../../writing/column-templates.ts'
import { columnsForm, jsonForm } from '../../writing/record-form.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { HeadedReader } from './headed-reader.ts'
import {
  type DirectiveRules,
  faultOfHeader,
  type Header,
  isW3cFields,
  isZeekFields,
  MAX_FIELDS,
  W3C_DIRECTIVES,
  ZEEK_DIRECTIVES,
} from './header.ts'
import { type HeadedPlan, planHeaded } from './plan.ts'

/** Lines before the first record in which a header is looked for. */
const HEAD_LINES = 50

/** Whether the lines before the first record are directives, one of which names the fields. */
function startsWithDirectives(sample: Uint8Array, namesFields: (line: string) => boolean): boolean {
  for (const line of sampleLines(sample, false, HEAD_LINES)) {
    if (!line.startsWith('#')) return false
    if (namesFields(line)) return true
  }
  return false
}

/** A name of a field: the first line of a table has nothing else. */
const NAME = /^[A-Za-z_][\w.:()/-]*$/
/** A first line with fewer words could be a sentence. */
const MIN_NAMES = 4

/**
 * Whether the first line has four or more names, all different, separated by single spaces, one of which is usual for the
 * client's address, and most other lines have as many words, and addresses or `-` under that name.
 */
function looksLikeSpaces(sample: Uint8Array): boolean {
  const [first = '', ...lines] = sampleLines(sample, false)
  const names = first.split(' ')
  const isHeader =
    names.length >= MIN_NAMES &&
    names.length <= MAX_FIELDS &&
    names.every((name) => NAME.test(name) && kindOfValue(name) === 'other') &&
    new Set(names).size === names.length
  const column = isHeader ? names.findIndex(isAddressName) : -1
  if (column === -1) return false
  const fitting = lines.filter((line) => {
    const words = line.split(' ')
    return words.length === names.length && kindOfValue(words[column] ?? '') !== 'other'
  })
  return lines.length === 0 || fitting.length * 2 > lines.length
}

/** The part of the definition that is the same in all three formats. */
function definition(
  name: HeadedPlan['format'],
  title: string,
  example: string,
  rules: DirectiveRules | null,
  recognise: (sample: Uint8Array) => boolean,
): FormatDefinition<HeadedPlan, Header> {
  return {
    name,
    title,
    example,
    options: ['field', 'timeField'],
    requiredForRows: [],
    recognise,
    plan: (sample, isWhole, options) => planHeaded(sample, isWhole, options, name, rules),
    layout: (plan) => ({
      ...plainLayout(plan),
      headerLine: plan.headerLine,
      directives:
        rules === null
          ? null
          : {
              firstByte: HASH,
              initial: plan.header,
              next: (header, bytes, start, end) =>
                rules.next(header, new TextDecoder().decode(bytes.subarray(start, end))),
            },
    }),
    withoutHeader: (plan) => ({ ...plan, headerLine: 0 }),
    addressPosition: ({ address }) =>
      typeof address === 'number' ? `in field ${address + 1}` : `in the field ${shownName(address)}`,
    nextFormat: ({ isObject, isClock }) => {
      if (isObject && isClock)
        throw wrongOption`where day and time are two fields, <to> takes one <field>: leave out <to>, and each address gets columns`
      return isObject ? 'ndjson' : name
    },
    stateAfterAdded: ({ address, columns }, header) =>
      faultOfHeader(header, address, columns) === ''
        ? { ...header, names: [...header.names, ...columns] }
        : header,
    form: (plan) => {
      const { fields, separator, unset, isObject, columns } = plan
      if (isObject) return jsonForm(plan, 'object')
      const text = String.fromCharCode(separator)
      // IIS writes a plus sign for a space in a value; Zeek writes the code of the separator.
      const template =
        separator === COMMA
          ? columnsTemplate(fields, text, true)
          : wordsTemplate(fields, text, unset, separator === SPACE ? '+' : ' ')
      return columnsForm(template, text, columns, unset)
    },
    fieldNames: (plan) => plan.names,
    usualFields: ({ requestFields }) => requestFields,
    makeReader: (plan) => new HeadedReader(plan, rules),
    planRows: null,
  }
}

export const W3C = definition(
  'w3c',
  'W3C Extended log (IIS, CloudFront, Blue Coat), also with commas (Exchange)',
  '#Fields: date time c-ip sc-status\n2026-07-01 12:00:00 81.2.69.142 200',
  W3C_DIRECTIVES,
  (sample) => startsWithDirectives(sample, isW3cFields),
)
export const ZEEK = definition(
  'zeek',
  'log of Zeek, with tabs',
  '#separator \\x09\n#fields\tts\tid.orig_h\n#types\ttime\taddr\n1782907200.5\t81.2.69.142',
  ZEEK_DIRECTIVES,
  (sample) => startsWithDirectives(sample, isZeekFields),
)
export const SSV = definition(
  'ssv',
  'table with spaces, whose first line names its columns (VPC flow logs of AWS)',
  'version srcaddr dstport action start\n2 81.2.69.142 443 ACCEPT 1782907200',
  null,
  looksLikeSpaces,
)
