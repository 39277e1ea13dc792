import { CARRIAGE_RETURN, LINE_FEED, SPACE } from '../../ascii.ts'
import type { PrefixWrapper } from '../../options.ts'
import { LineRecordEnds } from '../../reading/layout.ts'
import { firstLines, markLength } from '../../reading/sample.ts'

/** An escape by which terminals change the colour. */
const COLOURS = `(?:${String.fromCharCode(0x1b)}\\[[\\d;]*[A-Za-z])*`

/**
 * What wrappers write before a line.
 * - `compose`: Docker Compose, the name of the container in the colour of the service
 * - `cri`: container runtimes of Kubernetes, kubernetes/design-proposals-archive `node/kubelet-cri-logging.md`. `P` is a part of a line
 * - `kubectl`: `kubectl logs --prefix`
 * - `syslog`: RFC 5424, RFC 3164, and the latter with the times of rsyslog
 */
const PREFIXES: Readonly<Record<PrefixWrapper, RegExp>> = {
  compose: new RegExp(`^${COLOURS}[\\w.-]+ *\\| ${COLOURS}`),
  cri: /^\d{4}-\d\d-\d\dT\S{1,30} std(?:out|err) [FP](?::\S*)? /,
  kubectl: /^\[[\w.-]+(?:\/[\w.-]+)+\] /,
  syslog:
    /^(?:<\d{1,3}>1 \S+ \S+ \S+ \S+ \S+ (?:-|(?:\[[^\]]*\])+) |(?:<\d{1,3}>)?(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S{1,30}) \S+ [^\s:[]+(?:\[\d+\])?: )/,
}

/** The programs that write these prefixes, for a note. */
export const WRITERS: Readonly<Record<PrefixWrapper, string>> = {
  compose: 'Docker Compose',
  cri: 'a container runtime',
  kubectl: 'kubectl --prefix',
  syslog: 'syslog',
}

/** Longer prefixes are not found. Bytes. */
const MAX_PREFIX_BYTES = 512
/** Lines of a sample that are looked at, and the share of them that must have the prefix. */
const LINES = 50
const SHARE = 0.9

/** Finds where the content of lines begins. */
export class Prefix {
  readonly #pattern: RegExp
  /** Each byte becomes a character, so that indexes are the same. */
  readonly #decoder = new TextDecoder('latin1')

  constructor(wrapper: PrefixWrapper) {
    this.#pattern = PREFIXES[wrapper]
  }

  /** @returns the index after the prefix of the line `bytes[start, end)`; `start` if the line has none */
  end(bytes: Uint8Array, start: number, end: number): number {
    const head = this.#decoder.decode(bytes.subarray(start, Math.min(end, start + MAX_PREFIX_BYTES)))
    return start + (this.#pattern.exec(head)?.[0].length ?? 0)
  }
}

/** A sample without what a wrapper wrote before its lines. */
export interface Unwrapped {
  readonly wrapper: PrefixWrapper
  readonly sample: Uint8Array
}

/** The wrappers that most of the first lines have, with the lines that they wrap. */
export function* unwrapped(sample: Uint8Array): Generator<Unwrapped> {
  for (const wrapper of ['compose', 'cri', 'kubectl', 'syslog'] as const) {
    const prefix = new Prefix(wrapper)
    const lines = firstLines(sample, true, LINES)
    const wrapped = lines.filter(({ start, end }) => prefix.end(sample, start, end) > start)
    if (wrapped.length === 0 || wrapped.length < SHARE * lines.length) continue
    yield { wrapper, sample: withoutPrefixes(sample, prefix, wrapper === 'cri') }
  }
}

/** @param joins whether lines can come in parts, see `PartialLines` */
function withoutPrefixes(sample: Uint8Array, prefix: Prefix, joins: boolean): Uint8Array {
  const parts = new PartialLines(0)
  const bytes = new Uint8Array(sample.length)
  let size = 0
  for (let start = markLength(sample); start < sample.length; ) {
    const lineFeed = sample.indexOf(LINE_FEED, start)
    const next = lineFeed === -1 ? sample.length : lineFeed + 1
    const isPart = joins && parts.isPart(sample, start, next)
    const end = isPart ? parts.endOfLine(sample, start, next) : next
    const content = sample.subarray(prefix.end(sample, start, end), end)
    bytes.set(content, size)
    size += content.length
    start = next
  }
  return bytes.subarray(0, size)
}

const CAPITAL_P = 0x50

/** Where the tag of a line is: after a time and the name of a stream. */
const TAG_WORD = 2
const MAX_TAG_AT = 64

/**
 * Finds lines that a container runtime has cut into parts: each part but the last has the tag `P`. A line whose parts together
 * exceed the bound is not joined: each part is then a record.
 */
export class PartialLines extends LineRecordEnds {
  constructor(maxBytes: number) {
    super(null, maxBytes)
  }

  override next(start: number, end: number, isLast: boolean): number {
    this.contentStart = start
    this.spansLines = false
    const first = this.lineFeeds.next(start, end)
    if (start < this.plainUntil) return first === -1 && isLast ? end : first
    let last = first
    for (let at = start; last !== -1 && this.isPart(this.bytes, at, last); ) {
      at = last + 1
      last = this.lineFeeds.next(at, end)
      const size = (last === -1 ? end : last) - start
      if (size <= this.maxBytes) continue
      this.plainUntil = at
      return first
    }
    this.spansLines = last !== first
    return last === -1 && isLast ? end : last
  }

  /** Whether the line that begins at `start` is a part that others follow. */
  isPart(bytes: Uint8Array, start: number, end: number): boolean {
    const most = Math.min(end, start + MAX_TAG_AT)
    let words = 0
    for (let at = start; at < most; at++) {
      if (bytes[at] === LINE_FEED) return false
      if (bytes[at] === SPACE && ++words === TAG_WORD) return bytes[at + 1] === CAPITAL_P
    }
    return false
  }

  /** The end of the line at `start`, without its line end. */
  endOfLine(bytes: Uint8Array, start: number, end: number): number {
    const lineFeed = bytes.indexOf(LINE_FEED, start)
    if (lineFeed === -1 || lineFeed >= end) return end
    return lineFeed > start && bytes[lineFeed - 1] === CARRIAGE_RETURN ? lineFeed - 1 : lineFeed
  }

  /** The start of the line after the one that ends at `end`. */
  nextLine(bytes: Uint8Array, lineEnd: number, end: number): number {
    return Math.min(
      bytes[lineEnd] === CARRIAGE_RETURN ? lineEnd + 2 : lineEnd + 1,
      Math.max(end, lineEnd + 1),
    )
  }
}
