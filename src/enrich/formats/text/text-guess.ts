import { Address } from '../../../address/address.ts'
import { NO_TIME } from '../../locating/event-time.ts'
import { OpeningTime } from '../../locating/opening-time.ts'
import { kindOfValue } from '../../reading/field-guess.ts'
import { isAddressName } from '../../reading/known-names.ts'
import { firstLines, type Sample, sampleLines, startsJsonArray } from '../../reading/sample.ts'
import { AddressEvidence } from '../../reading/sample-times.ts'
import { AddressScanner } from '../../scanning/address-scanner.ts'
import { WHOLE_TOKENS } from '../../scanning/whole-tokens.ts'
import { latin1 } from '../../swar.ts'
import { CLIENT, OTHER, roleOf } from './address-role.ts'

/** Lines of the sample that are read, at most. */
export const LINES = 1000
/** One line of this many is few. Addresses can be versions only if fewer of them are certain to be addresses. */
export const FEW = 10
const REQUEST = /["'](?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|CONNECT) [^"']{1,2000} HTTP\/\d/
/** Lines whose form is looked at. */
const FORM_LINES = 50
/** More control characters than this share of the bytes are in no text. */
const MAX_CONTROLS = 0.02
/** A crash leaves longer runs of NUL in a log. Shorter runs are numbers of a binary file. */
const CRASH_BYTES = 64

/**
 * Whether an input that no other format recognises is lines of text with addresses. These are not text: JSON over several lines, a
 * table whose header names the field of the address, a binary file, and lines whose addresses are versions.
 */
export function looksLikeText(sample: Uint8Array): boolean {
  const { example, areVersions } = addressesIn(sample)
  return example !== null && !areVersions && isText(sample)
}

/** An address in lines of text that are not recognised because their addresses look like versions; `null` if that is not why. */
export function versionInText(sample: Uint8Array): string | null {
  const { example, areVersions } = addressesIn(sample)
  return areVersions && isText(sample) ? example : null
}

/** How to read lines whose addresses are in no field. */
const TEXT_FLAGS =
  "To locate the addresses wherever they are in the lines, add --format text (in a program: format: 'text')"

/** How to read lines of any format by the addresses in their text; '' if there are none. */
export function textFlags(sample: Uint8Array): string {
  return isBinary(sample) || addressesIn(sample).example === null ? '' : TEXT_FLAGS
}

function isText(sample: Uint8Array): boolean {
  const lines = sampleLines({ bytes: sample }, FORM_LINES)
  // An object or an array. Logs begin with brackets too, around a time or a level.
  const isJson = /^\ufeff?\s*(?:\{\s*(?:"|$)|\[\s*(?:"|$))/.test(lines[0] ?? '')
  if (startsJsonArray(sample) || isJson || hasHeader(lines)) return false
  // Objects after what Docker Compose or a container runtime writes before each line.
  const wrapped = lines.filter((line) => /^(?:[^"{|]{1,100}\| *|\S+ std(?:out|err) [FP] )\{"/.test(line))
  return wrapped.length * 2 <= lines.length && !isBinary(sample)
}

/** Whether the first line begins with a time, or has an address, as the lines of a log do and the header of a table does not. */
export function opensLikeLog(sample: Uint8Array): boolean {
  const [line] = firstLines({ bytes: sample }, 1)
  if (line === undefined) return false
  const { start, end } = line
  return (
    new OpeningTime(NO_TIME).read(sample, start, end) !== 'none' ||
    new AddressScanner(WHOLE_TOKENS).next(sample, start, start, end)
  )
}

/** A header of W3C's format or of Zeek, or a header of names, one of them of an address, above as many words. */
function hasHeader([first = '', second = '']: readonly string[]): boolean {
  if (/^\ufeff?#(?:fields|separator|software|version)\b/i.test(first)) return true
  const names = first.trim().split(/\s+/)
  const values = second.trim().split(/\s+/)
  const isHeader =
    names.length > 2 &&
    names.length === values.length &&
    names.every((name) => /^[A-Za-z_][\w.()-]*$/.test(name))
  return (
    isHeader &&
    names.some((name, index) => kindOfValue(values[index] ?? '') === 'address' && isAddressName(name))
  )
}

function isBinary(sample: Uint8Array): boolean {
  let controls = 0
  let zeros = 0
  for (const byte of sample) {
    if (byte === 0) zeros++
    else {
      if (zeros < CRASH_BYTES) controls += zeros
      zeros = 0
      // White space and the escape of terminals are in text.
      if (byte < 0x20 && !(byte >= 0x09 && byte <= 0x0d) && byte !== 0x1b) controls++
    }
  }
  return controls > sample.length * MAX_CONTROLS
}

/**
 * The first address of the lines, and whether all of them together look like versions. They do not if some are named, have a port,
 * or are in a line with a request, as in an access log.
 */
function addressesIn(sample: Uint8Array): { example: string | null; areVersions: boolean } {
  const evidence = new AddressEvidence()
  const decoder = new TextDecoder()
  const found = new Set<string>()
  let addresses = 0
  let certain = 0
  let lineEnd = -1
  let isRequest = false
  for (const { line, text, address, role, hasPort } of addressesOfLines({ bytes: sample })) {
    if (line.end !== lineEnd) isRequest = REQUEST.test(decoder.decode(sample.subarray(line.start, line.end)))
    lineEnd = line.end
    addresses++
    if (isRequest || role === CLIENT || role === OTHER || hasPort) certain++
    evidence.add(address, !found.has(text))
    found.add(text)
  }
  const [example = null] = found
  return { example, areVersions: certain * FEW < addresses && evidence.looksLikeVersions }
}

/** The addresses of the first lines, in their order. `address` is reused. */
export function* addressesOfLines(sample: Sample) {
  const { bytes } = sample
  const address = new Address()
  const scanner = new AddressScanner(WHOLE_TOKENS)
  for (const line of firstLines(sample, LINES)) {
    const { start, end } = line
    for (let from = start; scanner.next(bytes, start, from, end); from = scanner.tokenEnd) {
      const text = latin1(bytes, scanner.start, scanner.end)
      const hasPort = scanner.tokenEnd > scanner.end
      if (address.parse(text)) yield { line, text, address, role: roleOf(scanner), hasPort }
    }
  }
}
