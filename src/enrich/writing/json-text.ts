import type { ByteSink } from '../../bytes/byte-sink.ts'
import { utf8Decoder, utf8Encoder } from '../../realm.ts'
import { type CommonPlan, RAW } from '../options.ts'
import { CachedView, copyPlain } from '../swar.ts'

/** Text is decoded in parts of this size. Bytes. */
const PART_BYTES = 65_536

const encoder = /* @__PURE__ */ utf8Encoder()

/** Upper bound of the bytes that a text of `size` bytes takes in JSON: the longest escape is `\u001f`. */
export function jsonRoom(size: number): number {
  return size * 6
}

/**
 * Writes bytes of text as the content of JSON strings.
 *
 * Ill-formed UTF-8 becomes U+FFFD, once for each maximal part of a character, as in the WHATWG decoder: JSON cannot
 * hold raw bytes, and NDJSON must be UTF-8.
 */
export class JsonText {
  readonly #source = new CachedView()
  readonly #target = new CachedView()
  readonly #decoder = utf8Decoder({ ignoreBOM: true })

  /**
   * Writes the text in `bytes[start, end)`, without quotes around it, to `into` at `at`. The caller provides
   * {@link jsonRoom} there.
   *
   * @returns the index after the last byte written
   */
  put(bytes: Uint8Array, start: number, end: number, into: Uint8Array, at: number): number {
    const stop = copyPlain(this.#source.view(bytes), start, end, this.#target.view(into), at)
    const to = at + stop - start
    return stop === end ? to : this.#putOther(bytes, stop, end, into, to)
  }

  /** Writes text that may need escapes, or may not be ASCII. Few lines have such text. */
  #putOther(bytes: Uint8Array, start: number, end: number, into: Uint8Array, at: number): number {
    let to = at
    for (let from = start; from < end; from += PART_BYTES) {
      const next = Math.min(from + PART_BYTES, end)
      const text = this.#decoder.decode(bytes.subarray(from, next), { stream: next < end })
      const json = JSON.stringify(text)
      to += encoder.encodeInto(json.slice(1, -1), into.subarray(to)).written
    }
    return to
  }
}

/** Name of the member that holds what another program wrote before a line. */
export const WRAPPER = 'wrapper'

type RawPlan = Pick<CommonPlan, 'into' | 'asn' | 'cells' | 'maxLineBytes'>

/** Writes lines that cannot be read as JSON objects: `{"raw":"…","location":null}`. */
export class RawLines {
  readonly #text = new JsonText()
  readonly #tail: Uint8Array
  readonly #maxBytes: number

  /** @param mask finds the end of a line that is cut off where an address can begin; `null` if addresses are kept */
  constructor(
    plan: RawPlan & { readonly others?: readonly RawPlan[] },
    private readonly mask: { endOfCut(bytes: Uint8Array, start: number, end: number): number } | null,
  ) {
    this.#maxBytes = plan.maxLineBytes
    const names = [plan, ...(plan.others ?? [])].flatMap(({ into, asn, cells }) =>
      asn === undefined || cells !== undefined ? [into] : [into, asn],
    )
    this.#tail = encoder.encode(`"${names.map((name) => `,${JSON.stringify(name)}:null`).join('')}}\n`)
  }

  /** Writes an object with `bytes[start, end)`, as far as a line is read, and a line feed. Ill-formed UTF-8 becomes U+FFFD. */
  write(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    const most = start + this.#maxBytes
    const last = end <= most ? end : (this.mask?.endOfCut(bytes, start, most) ?? most)
    out.writeAscii(`{"${RAW}":"`)
    const into = out.room(jsonRoom(last - start))
    out.length = this.#text.put(bytes, start, last, into, out.length)
    out.write(this.#tail)
  }
}
