import type { ByteSink } from './byte-sink.ts'
import { JsonText, jsonRoom } from './json-text.ts'

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
