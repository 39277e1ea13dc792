// Fields of records that have names: which one has the address, and which the time.
import { quoted } from '../../errors.ts'
import { EnrichError, shownName } from '../errors.ts'
import { guessAddress, guessTime, kindOfValue, SampleField } from './field-guess.ts'
import {
  addressNotes,
  checkNamedTimes,
  type FieldWords,
  LIST_FLAGS,
  shellWord,
  timeNotes,
  unknownAddressField,
} from './field-messages.ts'
import { SampleTimes } from './sample-times.ts'

/** A field of the sample that has a name. */
export class NamedField extends SampleField {
  constructor(
    readonly name: string,
    /** From 0, in the first record that has it. */
    readonly index: number,
  ) {
    super([name])
  }

  /** Its values as times, whatever its name. */
  readonly allTimes = new SampleTimes()

  override add(value: string | number | null): void {
    super.add(value)
    if (kindOfValue(String(value ?? '')) !== 'missing') this.allTimes.add(String(value))
  }
}

const WORDS: FieldWords<NamedField> = {
  noun: 'field',
  shown: ({ name }) => `the field ${shownName(name)}`,
  typed: ({ name, index }) => (shellWord(name) === name ? name : String(index + 1)),
}

/**
 * The field with the address: its name, or its index if it was named by its number.
 *
 * @param field its name, or its number from 1; `undefined` to guess
 * @param notes gets what was guessed
 * @throws EnrichError when there is no such field, nothing can be guessed, or it holds lists and no proxies are trusted
 */
export function addressOf(
  field: string | undefined,
  columns: readonly NamedField[],
  isTrusting: boolean,
  notes: string[],
): string | number {
  if (field === undefined) {
    const guess = guessAddress(columns, isTrusting)
    if (guess.best === null) throw unknownAddressField(guess, WORDS, `the fields are ${listed(columns)}`)
    notes.push(...addressNotes(guess, isTrusting, WORDS))
    return guess.best.name
  }
  const column = fieldNamed(field, columns)
  if (!isTrusting && column.kinds.list > 0) {
    throw new EnrichError(
      'ENRICH_FIELD_IS_LIST',
      `field ${quoted(field)} holds lists of addresses, whose left part any caller can write: ${LIST_FLAGS}`,
    )
  }
  return column.name === field ? field : column.index
}

/** Whether the chosen field is an address and a port. @param chosen its name or its index */
export function hasPort(columns: readonly NamedField[], chosen: string | number): boolean {
  return columns.find(({ name, index }) => name === chosen || index === chosen)?.hasPort ?? false
}

/** Finds a field by its name, or else by its number, from 1. */
function fieldNamed(field: string, columns: readonly NamedField[]): NamedField {
  const number = /^[1-9]\d{0,8}$/.test(field) ? Number(field) - 1 : -1
  const found = columns.find(({ name }) => name === field) ?? columns.find(({ index }) => index === number)
  if (found !== undefined) return found
  const holding = columns.filter((column) => column.holdsAddresses(true))
  const [shown, what] = holding.length > 0 ? [holding, 'addresses are in'] : [columns, 'the fields are']
  const hint = shown.length === 0 ? '' : `; ${what} ${listed(shown)}`
  throw new EnrichError('ENRICH_FIELD_UNKNOWN', `there is no field ${quoted(field)}${hint}`)
}

/** The field with the time of the event, in the same way; no field if there is none. */
export function timeOf(
  columns: readonly NamedField[],
  timeField: string | undefined,
  notes: string[],
): (string | number)[] {
  if (timeField === undefined) {
    const guessed = guessTime(columns)
    notes.push(...timeNotes(guessed, WORDS))
    return guessed.best === null ? [] : [guessed.best.name]
  }
  const column = fieldNamed(timeField, columns)
  checkNamedTimes(column.allTimes, `field ${quoted(timeField)}`)
  return [column.name === timeField ? timeField : column.index]
}

function listed(columns: readonly NamedField[]): string {
  const most = 12
  return (
    columns
      .slice(0, most)
      .map(({ name }) => shownName(name))
      .join(', ') + (columns.length > most ? ', ...' : '')
  )
}
