import { quoted } from '../../errors.ts'
import { EnrichError, shownName } from '../errors.ts'
import type { AddressGuess, SampleField, TimeGuess } from './field-guess.ts'
import {
  addressWeight,
  CLIENT_WEIGHT,
  isHeaderName,
  isListName,
  isOtherName,
  isTargetName,
} from './known-names.ts'
import type { SampleTimes } from './sample-times.ts'

/** How messages name the fields of a format. */
export interface FieldWords {
  /** What a field is: "member". */
  readonly noun: string
  /** The field, as in "the address is in client.ip". */
  shown(field: SampleField): string
  /** The text to type after `--field`. */
  typed(field: SampleField): string
}

/** The proxies that messages suggest to trust. Hardly anybody but the operator has addresses in these networks. */
const LOCAL_PROXIES = 'loopback,uniquelocal'

/** What to add to the command to read lists of hops. */
export const LIST_FLAGS = `say which proxies are trusted, as in --trust ${LOCAL_PROXIES} for proxies with private addresses (in a program: trustedProxies)`

/** The error for a field with lists, if no proxies are trusted. @param what the field */
export function listFault(what: string): EnrichError {
  return new EnrichError(
    'ENRICH_FIELD_IS_LIST',
    `${what} holds lists of addresses, whose left part any caller can write: ${LIST_FLAGS}`,
  )
}

/** What to add to the command to read a field. */
function fieldFlags(field: SampleField, words: FieldWords): string {
  const isList = isListName(field.path) || field.seen.kinds.list > 0
  return `--field ${words.typed(field)}${isList ? ` --trust ${LOCAL_PROXIES}` : ''}`
}

/** The first texts of a list, which can be long. */
export function firstTexts(texts: readonly string[], most: number, between = ', ', more = '...'): string {
  return [...texts.slice(0, most), ...(texts.length > most ? [more] : [])].join(between)
}

/** Fields with an example value of each: `src (for example 81.2.69.142), dst (for example 8.8.8.8)`. */
function withExamples(fields: readonly SampleField[], { shown }: FieldWords): string {
  const examples = fields.map((field) => {
    const { address, list, other } = field.seen.examples
    const example = address ?? (list === undefined ? other : quoted(list))
    return example === undefined ? shown(field) : `${shown(field)} (for example ${example})`
  })
  return firstTexts(examples, 5)
}

/** No field of the sample holds addresses. */
export class NoAddressFieldError extends EnrichError {}

/**
 * The error for a sample from which no field with the client's address can be chosen.
 *
 * @param nothing what is there if no field holds addresses
 */
export function unknownAddressField(
  { others, rivals, unreadable }: AddressGuess,
  words: FieldWords,
  nothing: string,
): EnrichError {
  const [candidate] = rivals.length > 0 ? rivals : others
  const error = (message: string): EnrichError => new EnrichError('ENRICH_FIELD_UNKNOWN', message)
  if (candidate === undefined)
    return new NoAddressFieldError(
      'ENRICH_FIELD_UNKNOWN',
      `no ${words.noun} was found that holds addresses; ${nothing}`,
    )
  const flags = fieldFlags(candidate, words)
  if (rivals.length > 0) {
    const which = rivals.map((field) => fieldFlags(field, words)).join(' or ')
    return error(
      `it is unclear which ${words.noun} has the client's address: ${withExamples(rivals, words)}. Say which with ${which}`,
    )
  }
  const sample = unreadable?.seen.examples.other
  const example = sample === undefined ? '' : ` (for example ${quoted(sample)})`
  const why =
    unreadable === null
      ? `no ${words.noun} has a usual name for the client's address, such as client_ip; addresses are in`
      : `${words.shown(unreadable)}${example} has no addresses, although its name says that it has the client's; addresses are in`
  const which = others.length === 1 ? 'it has' : 'one of them has'
  return error(`${why} ${withExamples(others, words)}. If ${which} the client's, name it: ${flags}`)
}

/** Notes on a guess that has a choice: where the address is, and what can be wrong with it. */
export function addressNotes(guess: AddressGuess, isTrusting: boolean, words: FieldWords): string[] {
  const { best, others, isByValues } = guess
  if (best === null) return []
  const rest = others.length === 0 ? '' : ` (addresses are also in ${firstTexts(others.map(words.shown), 3)})`
  const target = others.find(({ path, isLocal }) => isTargetName(path) && !isLocal)
  const both =
    target === undefined
      ? ''
      : `. To locate both: --field ${words.typed(best)}=source --field ${words.typed(target)}=target`
  const notes = [`the address is in ${words.shown(best)}${rest}${both}`]
  if (isByValues && best.path.join('') !== '') {
    notes.push(
      `${words.shown(best)} was chosen by its values: its name is not a usual one for the client's address`,
    )
  }
  if (best.isEmpty && best.values > 0) {
    const other = others.find(({ path }) => !isOtherName(path))
    const hint = other === undefined ? '' : `. To use another: ${fieldFlags(other, words)}`
    notes.push(`${words.shown(best)} is empty in the first ${best.values} records${hint}`)
  }
  const behind =
    isTrusting || !best.isLocal ? undefined : others.find((field) => field.mayBeAddress && !field.isLocal)
  if (behind !== undefined) {
    notes.push(
      `the addresses in ${words.shown(best)} are private, as those of proxies are. To locate their clients: ${fieldFlags(behind, words)}`,
    )
  }
  const forwarded = others.find(
    ({ path, seen: { kinds }, values }) => isListName(path) && (kinds.address + kinds.list) * 2 > values,
  )
  // A program that names the client has looked at the list already.
  const isPeer = !best.isEmpty && !best.isLocal && addressWeight(best.path, false) < CLIENT_WEIGHT
  if (!isTrusting && isPeer && forwarded !== undefined) {
    // The server can be behind a content delivery network. Then the addresses are those of its machines.
    notes.push(
      `most lines have a list of forwarded addresses too: if proxies sent the requests, the addresses are those of the proxies. To locate their clients: --field ${words.typed(forwarded)} --trust with the networks of the proxies`,
    )
  }
  const header = others.find(
    ({ path, seen, values, isLocal }) =>
      isHeaderName(path) &&
      seen.kinds.address * 2 > values &&
      seen.examples.address !== best.seen.examples.address &&
      !isLocal,
  )
  if (!isTrusting && isPeer && forwarded === undefined && header !== undefined) {
    notes.push(
      `lines have another address in ${words.shown(header)}: if proxies sent the requests and replace this header, the addresses are those of the proxies. To locate their clients: ${fieldFlags(header, words)}`,
    )
  }
  return notes
}

/** Notes on the time, if it is not in the field that would be expected or cannot be read. */
export function timeNotes({ best, unreadable, other }: TimeGuess, words: FieldWords): string[] {
  if (best !== null) {
    const isEmpty = best.isEmpty && best.values > 0
    const hint =
      isEmpty && other !== null
        ? `, which is empty at first. To use another: --time-field ${words.typed(other)}`
        : ''
    return [`the time of the event is in ${words.shown(best)}${hint}`]
  }
  const fault = unreadable?.seen.times.fault ?? null
  if (unreadable === null || fault === null) return []
  const next =
    other === null ? '--at TIME for one instant' : `--time-field ${words.typed(other)} for another field`
  return [
    `the time of the event is in ${words.shown(unreadable)}, but ${quoted(fault.value)} ${fault.why.fault}, so that no time is read: ${fault.why.remedy}, or add ${next}`,
  ]
}

/**
 * Refuses a named field of times whose numbers count from another epoch than 1970, because they would be read as wrong times.
 *
 * @param name as a message shows it
 * @throws EnrichError
 */
export function checkNamedTimes(times: SampleTimes, name: string): void {
  const { fault } = times
  if (fault === null || !fault.why.isMisread) return
  throw new EnrichError(
    'ENRICH_FIELD_UNKNOWN',
    `${name} cannot be read as a time: ${quoted(fault.value)} ${fault.why.fault}. Convert it (${fault.why.remedy}), or leave it out and give one instant with --at TIME`,
  )
}

/** A name or value as one word of a command. Where a shell could read it otherwise, it is quoted. */
export function shellWord(text: string): string {
  if (/^[\w./@:+-]+$/.test(text) && text.length <= MAX_WORD_CHARS) return text
  return /^[\x20-\x26\x28-\x7e]+$/.test(text) && text.length <= MAX_WORD_CHARS ? `'${text}'` : shownName(text)
}

const MAX_WORD_CHARS = 60
