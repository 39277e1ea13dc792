// Fields of records that have names or numbers: which one has the address, and which the time.
import { quoted } from '../../errors.ts'
import { EnrichError, shownName } from '../errors.ts'
import type { CommonPlan } from '../options.ts'
import { guessAddress, guessTime, type SampleField } from './field-guess.ts'
import {
  addressNotes,
  checkNamedTimes,
  type FieldWords,
  firstTexts,
  listFault,
  shellWord,
  timeNotes,
  unknownAddressField,
} from './field-messages.ts'

/** The fields of a sample, and what a format calls them. */
export interface SampleFields {
  readonly fields: readonly SampleField[]
  readonly words: FieldWords
  /** @throws EnrichError when there is no field of this name */
  named(name: string, option: 'field' | 'timeField'): SampleField
  /** Says in a message what the sample has, if no field holds addresses. */
  nothing(): string
}

/** How messages name numbered fields. */
export interface NumberedWords extends FieldWords {
  /** The field as a list of all fields names it. */
  listed(field: SampleField): string
  /** The text after a list of all fields if none holds addresses. */
  readonly remedy: string
}

/** The words for fields that are rarely known by their numbers. */
const FIELD_WORDS: NumberedWords = {
  noun: 'field',
  shown: ({ name }) => `the field ${shownName(name)}`,
  typed: ({ name, index }) => (shellWord(name) === name ? name : String(index + 1)),
  listed: ({ name }) => shownName(name),
  remedy: '',
}

/** Fields that a user names by their names, or else by their numbers, from 1. */
export function numberedFields(
  fields: readonly SampleField[],
  words: NumberedWords = FIELD_WORDS,
): SampleFields {
  const isShared = ({ name }: SampleField): boolean => fields.filter((each) => each.name === name).length > 1
  return {
    fields,
    // Several fields of one name can only be told by their numbers.
    words: { ...words, typed: (field) => (isShared(field) ? String(field.index + 1) : words.typed(field)) },
    named: (named, option) => {
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
      const holding = option === 'field' ? fields.filter((each) => each.holdsAddresses(true)) : []
      const [shown, what] =
        holding.length > 0 ? [holding, `the ${noun}s with addresses are`] : [fields, `the ${noun}s are`]
      const hint = shown.length === 0 ? '' : `; ${what} ${listed(shown, words)}`
      throw new EnrichError('ENRICH_FIELD_UNKNOWN', `there is no ${noun} ${quoted(named)}${hint}`)
    },
    nothing: () => `the ${words.noun}s are ${listed(fields, words)}${words.remedy}`,
  }
}

/**
 * Chooses the field with the address.
 *
 * @param name `undefined` to guess
 * @param notes gets what was guessed
 * @throws EnrichError when there is no such field, nothing can be guessed, or it holds lists and no proxies are trusted
 */
export function chosenAddress(
  name: string | undefined,
  sampled: SampleFields,
  { trustedProxies }: Pick<CommonPlan, 'trustedProxies'>,
  notes: string[],
): SampleField {
  const { words } = sampled
  const isTrusting = trustedProxies !== null
  if (name === undefined) {
    const guess = guessAddress(sampled.fields, isTrusting)
    if (guess.best === null) throw unknownAddressField(guess, words, sampled.nothing())
    notes.push(...addressNotes(guess, isTrusting, words))
    return guess.best
  }
  const field = sampled.named(name, 'field')
  if (!isTrusting && field.seen.kinds.list > 0) throw listFault(words.shown(field))
  return field
}

/** Chooses the field with the time of the event in the same way. @returns `null` if none has a usual name */
export function chosenTime(
  name: string | undefined,
  sampled: SampleFields,
  notes: string[],
  address?: readonly string[],
): SampleField | null {
  const { words } = sampled
  if (name === undefined) {
    const guess = guessTime(sampled.fields, address)
    notes.push(...timeNotes(guess, words))
    return guess.best
  }
  const field = sampled.named(name, 'timeField')
  checkNamedTimes(field.seen.times, words.shown(field))
  return field
}

/**
 * @param added names of what is added
 * @param names those that are there
 * @param where what has them: "the table has"
 * @param noun what messages call one
 * @throws EnrichError when one is there already
 */
export function refuseTaken(
  added: readonly string[],
  names: readonly string[],
  where: string,
  noun: string,
  remedy = 'choose another name for what is added, as in --into geo (in a program: into)',
): void {
  const taken = added.filter((name) => names.includes(name))
  if (taken.length === 0) return
  const what = taken.length === 1 ? `a ${noun}` : `${noun}s`
  throw new EnrichError(
    'ENRICH_FIELD_EXISTS',
    `${where} ${what} ${taken.map(quoted).join(', ')} already: ${remedy}`,
  )
}

/** Fields that a message lists, at most. */
const MAX_LISTED = 12

function listed(fields: readonly SampleField[], words: NumberedWords): string {
  return firstTexts(fields.map(words.listed), MAX_LISTED, '; ', '…')
}
