// Fields of records that have names or numbers: which one has the address, and which the time.
import { quoted } from '../../errors.ts'
import { EnrichError, shownName } from '../errors.ts'
import { addedMembers, type CommonPlan } from '../options.ts'
import { guessAddress, guessTime, kindOfValue, SampleField } from './field-guess.ts'
import {
  addressNotes,
  checkNamedTimes,
  type FieldWords,
  listFault,
  shellWord,
  timeNotes,
  unknownAddressField,
} from './field-messages.ts'
import { SampleTimes } from './sample-times.ts'

/** A field of the sample that has a name or only a number. */
export class NumberedField extends SampleField {
  /** @param name '' for none */
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

/** How messages name numbered fields. */
export interface NumberedWords extends FieldWords<NumberedField> {
  /** The field in a list of all. */
  listed(field: NumberedField): string
  /** What follows a list of all fields if none holds addresses. */
  readonly remedy: string
}

/** The words for fields that are rarely known by their numbers. */
export const FIELD_WORDS: NumberedWords = {
  noun: 'field',
  shown: ({ name }) => `the field ${shownName(name)}`,
  typed: ({ name, index }) => (shellWord(name) === name ? name : String(index + 1)),
  listed: ({ name }) => shownName(name),
  remedy: '',
}

/**
 * Chooses the field with the address.
 *
 * @param named its name, or its number from 1; `undefined` to guess
 * @param notes gets what was guessed
 * @throws EnrichError when there is no such field, nothing can be guessed, or it holds lists and no proxies are trusted
 */
export function chosenAddress(
  named: string | undefined,
  fields: readonly NumberedField[],
  isTrusting: boolean,
  words: NumberedWords,
  notes: string[],
): NumberedField {
  if (named === undefined) {
    const guess = guessAddress(fields, isTrusting)
    const nothing = `the ${words.noun}s are ${listed(fields, words)}${words.remedy}`
    if (guess.best === null) throw unknownAddressField(guess, words, nothing)
    notes.push(...addressNotes(guess, isTrusting, words))
    return guess.best
  }
  const field = fieldNamed(named, fields, words)
  if (!isTrusting && field.kinds.list > 0) throw listFault(`${words.noun} ${quoted(named)}`)
  return field
}

/** Chooses the field with the time of the event in the same way. @returns `null` if none has a usual name */
export function chosenTime(
  named: string | undefined,
  fields: readonly NumberedField[],
  words: NumberedWords,
  notes: string[],
): NumberedField | null {
  if (named === undefined) {
    const guess = guessTime(fields)
    notes.push(...timeNotes(guess, words))
    return guess.best
  }
  const field = fieldNamed(named, fields, words)
  checkNamedTimes(field.allTimes, `${words.noun} ${quoted(named)}`)
  return field
}

/**
 * @param members of the objects that lines become
 * @param noun what messages call one
 * @throws EnrichError when the plan adds one of these members
 */
export function refuseTaken(plan: CommonPlan, members: readonly string[], noun: string): void {
  const taken = addedMembers(plan).find((name) => members.includes(name))
  if (taken === undefined) return
  throw new EnrichError(
    'ENRICH_FIELD_EXISTS',
    `a line has a ${noun} ${quoted(taken)} already: choose another name for what is added`,
  )
}

/** Finds a field by its name, or else by its number, from 1. */
function fieldNamed(named: string, fields: readonly NumberedField[], words: NumberedWords): NumberedField {
  const { noun } = words
  const [field, another] = fields.filter(({ name }) => name === named && name !== '')
  if (another !== undefined) {
    throw new EnrichError(
      'ENRICH_FIELD_UNKNOWN',
      `several ${noun}s are called ${quoted(named)}: give a number`,
    )
  }
  const number = /^[1-9]\d{0,8}$/.test(named) ? Number(named) - 1 : -1
  const found = field ?? fields.find(({ index }) => index === number)
  if (found !== undefined) return found
  const holding = fields.filter((each) => each.holdsAddresses(true))
  const [shown, what] = holding.length > 0 ? [holding, 'addresses are in'] : [fields, `the ${noun}s are`]
  const hint = shown.length === 0 ? '' : `; ${what} ${listed(shown, words)}`
  throw new EnrichError(
    'ENRICH_FIELD_UNKNOWN',
    `there is no ${noun} ${quoted(named)} among ${fields.length}${hint}`,
  )
}

/** Fields that a message lists, at most. */
const MAX_LISTED = 12

function listed(fields: readonly NumberedField[], words: NumberedWords): string {
  return (
    fields
      .slice(0, MAX_LISTED)
      .map((field) => words.listed(field))
      .join('; ') + (fields.length > MAX_LISTED ? '; …' : '')
  )
}
