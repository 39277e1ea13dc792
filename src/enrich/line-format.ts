import type { ByteSink } from './byte-sink.ts'
import { JsonText, jsonRoom } from './json-text.ts'

/**
 * What became of a line:
 * - `resolved`: written, with a location
 * - `unresolved`: written, without one; the locator has the reason
 * - `bad`: it cannot be read; `fault` says why, and what was written is taken back
 * - `blank`: there is nothing on it; what was written is taken back
 */
export type LineResult = 'resolved' | 'unresolved' | 'bad' | 'blank'

/** Reads and writes the lines of one format. Made with its plan and a locator. */
export interface LineFormat {
  /** Whether lines are written anew, so that neither a byte order mark nor line ends of the input are kept. */
  readonly rewrites: boolean
  /** After `bad`: what is wrong with the line, in words that could follow "line 7: ". */
  readonly fault: string
  /**
   * Given when the first line of the input is a header: writes it with what is added. Called in place of `line`,
   * with the same arguments. Not called for an input without a line.
   */
  readonly header?: ((bytes: Uint8Array, start: number, end: number, out: ByteSink) => void) | undefined
  /**
   * Enriches the record in `bytes[start, end)`, which has no line end and no byte order mark, and writes it
   * without a line end. The record is not empty. `bytes[end]` can be read and is a line end.
   */
  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult
}

/** Name of the member that has the line. */
export const RAW = 'raw'
const HEAD = `{"${RAW}":"`

/** Writes lines that cannot be read as JSON objects: `{"raw":"…","location":null}`. */
export class RawLines {
  readonly #text = new JsonText()
  readonly #tail: Uint8Array

  /** @param into name of the member that other lines have their location in */
  constructor(into: string) {
    this.#tail = new TextEncoder().encode(`",${JSON.stringify(into)}:null}\n`)
  }

  /** Writes `bytes[start, end)` and a line end; what is not UTF-8 becomes U+FFFD. */
  write(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    out.writeAscii(HEAD)
    const into = out.room(jsonRoom(end - start))
    out.length = this.#text.put(bytes, start, end, into, out.length)
    out.write(this.#tail)
  }
}
