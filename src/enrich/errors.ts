import { type EnrichErrorCode, GeofixError, MAX_QUOTED_CHARS, quoted } from '../errors.ts'

export type { EnrichErrorCode }

/**
 * The input does not fit the options, or its format or fields cannot be guessed. By `code`:
 * - `ENRICH_INPUT_UNREADABLE`: the input is compressed, an archive, not UTF-8, or ends lines with carriage returns only
 * - `ENRICH_FORMAT_UNKNOWN`: the lines are not in a known format
 * - `ENRICH_FIELD_UNKNOWN`: no field with addresses was found, or the named field does not exist
 * - `ENRICH_FIELD_IS_LIST`: the field holds lists of addresses, and `trustedProxies` is not given
 * - `ENRICH_FIELD_EXISTS`: the member or column to add exists already, and `overwrite` is not given
 * - `ENRICH_HEADER_MISSING`: the first line has data, such as an address, where a header has names, and `header` is not `false`
 * - `ENRICH_NO_ADDRESS`: none of the first records has an address, and `force` is not given
 * - `ENRICH_BAD_LINE`: a line cannot be read, and `onBadLine` is `fail`
 */
export class EnrichError extends GeofixError {
  override readonly name: string = 'EnrichError'
  readonly code: EnrichErrorCode
  readonly status = null

  constructor(code: EnrichErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** A line cannot be read, and `onBadLine` is `fail`. */
export class BadLineError extends EnrichError {
  override readonly name = 'BadLineError'
  /** Number of the line in the input, from 1. */
  readonly line: number
  /** What is wrong with the line, without the line number. */
  readonly fault: string

  constructor(line: number, fault: string) {
    super('ENRICH_BAD_LINE', `line ${line}: ${fault}`)
    this.line = line
    this.fault = fault
  }
}

/** Inputs of one run that differ in format or columns. Only the command has several inputs. */
export class InputMismatchError extends Error {
  override readonly name = 'InputMismatchError'
}

/** Names that need no quotes: they cannot be confused with the words around them. */
const USUAL = /^[\w./~@$-]+$/

/** The name of a field, or a path to it, for a message. Unusual or long names are quoted and cut. */
export function shownName(name: string): string {
  return name.length <= MAX_QUOTED_CHARS && USUAL.test(name) ? name : quoted(name)
}
