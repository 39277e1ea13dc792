import type { ByteSink } from '../bytes/byte-sink.ts'
import { JsonText, jsonRoom } from './json-text.ts'

/**
 * The result for a line:
 * - `resolved`: written with a location
 * - `unresolved`: written without a location; the locator has the reason
 * - `bad`: it cannot be read; `fault` says why, and the caller discards what was written
 * - `blank`: it has no content; the caller discards what was written
 */
export type LineResult = 'resolved' | 'unresolved' | 'bad' | 'blank'

/** Reads and writes the lines of one format. `FormatDefinition.makeLines` makes one for a plan. */
export interface LineFormat {
  /** Whether lines are rewritten, so that the input's byte order mark and line ends are not kept. */
  readonly rewrites: boolean
  /** After `bad`: what is wrong with the line, as text that can follow "line 7: ". */
  readonly fault: string
  /**
   * Writes the header with the added names; absent if the input has no header line. Called instead of `line`, with
   * the same arguments. Not called for an empty input.
   */
  readonly header?: ((bytes: Uint8Array, start: number, end: number, out: ByteSink) => void) | undefined
  /**
   * Enriches the record in `bytes[start, end)`, which has no line end and no byte order mark, and writes it
   * without a line end. The record is not empty. `bytes[end]` can be read and is a line end.
   */
  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult
}

/** Name of the member that holds the line. */
export const RAW = 'raw'
const HEAD = `{"${RAW}":"`

/** Writes lines that cannot be read as JSON objects: `{"raw":"…","location":null}`. */
export class RawLines {
  readonly #text = new JsonText()
  readonly #tail: Uint8Array

  /** @param into name of the member that holds the location in other lines */
  constructor(into: string) {
    this.#tail = new TextEncoder().encode(`",${JSON.stringify(into)}:null}\n`)
  }

  /** Writes an object with `bytes[start, end)`, and a line feed. Ill-formed UTF-8 becomes U+FFFD. */
  write(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    out.writeAscii(HEAD)
    const into = out.room(jsonRoom(end - start))
    out.length = this.#text.put(bytes, start, end, into, out.length)
    out.write(this.#tail)
  }
}
