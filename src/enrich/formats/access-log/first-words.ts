import { quoted } from '../../../errors.ts'
import { kindOfValue, SampleField } from '../../reading/field-guess.ts'
import { ABSENT } from '../../reading/record-reader.ts'
import { firstLines, type LineRange } from '../../reading/sample.ts'
import { AccessLogReader } from './access-log-reader.ts'
import { HOST, IDENT, REST, USER } from './parts.ts'

/** Lines checked. More than half must be lines of an access log. */
const LINES = 50

/** Whether more than half of the first lines are lines of an access log. */
export function looksLikeAccessLog(sample: Uint8Array): boolean {
  const lines = firstLines(sample, false, LINES)
  return readable(sample, lines).length * 2 > lines.length
}

/** A virtual host is the first word of this share of lines, at most, in the form of an address. */
const MAX_ADDRESS_HOSTS = 0.1

/**
 * The first two words of the lines of a sample. Without a virtual host the second word is the client's identity (RFC 1413),
 * which servers hardly ever know and log as `-`. Some formats have a second address there: the server's, or that of a proxy.
 */
export class FirstWords {
  readonly first = new SampleField([])
  readonly second = new SampleField([])
  /** Whether lines begin with a virtual host, and the client is the second word. */
  readonly hasVhost: boolean
  /** Whether both words are addresses, or the first can be the name of a client. */
  readonly areUnclear: boolean
  /** What the lines begin with if that is unclear. */
  readonly beginning: string
  /** The first two words of a line whose second word is an address. */
  readonly example: string
  /** Whether the quoted part after the user agent has addresses. */
  readonly hasForwarded: boolean
  /** Whether there are lines, and none has such a part. */
  readonly lacksForwarded: boolean
  /** Whether it has addresses in most lines, so that proxies seem to have sent the requests. */
  readonly isForwarded: boolean
  /** An address, or a list of them, in the place of the user or in parentheses after the first word, if most lines have one that is not the first word; or `null`. */
  readonly another: string | null

  constructor(sample: Uint8Array, isWhole: boolean) {
    const lines = readable(sample, firstLines(sample, isWhole, LINES))
    const forwarded = new SampleField([])
    const other = new SampleField([])
    // The first words of lines whose second word is an address.
    const hosts = new SampleField([])
    const firsts = new Set<string>()
    const seconds = new Set<string>()
    let example = ''
    let parts = 0
    for (const line of lines) {
      const [first, second] = [textOf(sample, line, HOST), textOf(sample, line, IDENT)]
      this.first.add(first)
      this.second.add(second)
      if (kindOfValue(second) === 'address') {
        hosts.add(first)
        firsts.add(first)
        seconds.add(second)
        if (example === '') example = quoted(`${first} ${second}`)
      }
      const rest = textOf(sample, line, REST)
      const [, after] = /^"([^"]*)"/.exec(rest) ?? []
      forwarded.add(after ?? '')
      if (rest.startsWith('"')) parts++
      const [, inside] = /^\(([^)]*)\)$/.exec(second) ?? []
      const given = inside ?? textOf(sample, line, USER)
      other.add(given === first ? '' : given)
    }
    this.example = example
    this.lacksForwarded = lines.length > 0 && parts === 0
    this.hasForwarded = forwarded.holdsAddresses(true) && !forwarded.isLocal
    this.isForwarded =
      this.hasForwarded && (forwarded.kinds.address + forwarded.kinds.list) * 2 > lines.length
    const isUsual = (other.kinds.address + other.kinds.list) * 2 > lines.length && !other.isLocal
    this.another = isUsual ? (other.examples.address ?? other.examples.list ?? null) : null
    const { address, list, missing } = hosts.kinds
    const isShifted = this.second.kinds.address * 2 > lines.length
    const isHostAddress = address + list + missing > lines.length * MAX_ADDRESS_HOSTS
    // Clients differ more than virtual hosts: names can be those of clients, found by their addresses.
    this.beginning = isHostAddress ? 'two addresses' : 'a name and an address'
    this.areUnclear = isShifted && (isHostAddress || firsts.size > seconds.size)
    this.hasVhost = isShifted
  }
}

/** The text of a part, up to the length of a long list of hops. */
function textOf(sample: Uint8Array, { starts, ends }: AccessLogReader, part: number): string {
  const [start, end] = [starts[part] ?? ABSENT, ends[part] ?? 0]
  return start === ABSENT ? '' : String.fromCharCode(...sample.subarray(start, Math.min(end, start + 400)))
}

function readable(sample: Uint8Array, lines: readonly LineRange[]): AccessLogReader[] {
  return lines.flatMap(({ start, end }) => {
    const reader = new AccessLogReader({ hasVhost: false, isWordNamed: true, hasForwarded: false })
    reader.read(sample, start, end)
    return reader.complete() ? [reader] : []
  })
}
