/** The members that a line has or can have, in their order; the location follows. */
export const MEMBERS = [
  'vhost',
  'ip',
  'ident',
  'user',
  'time',
  'method',
  'target',
  'protocol',
  'request',
  'status',
  'bytes',
  'referrer',
  'user_agent',
  'x_forwarded_for',
  'rest',
] as const

/** A short text that is written often. */
export class Piece {
  /** Bytes of it. */
  readonly size: number
  /** With zeros up to a multiple of four. */
  readonly #words: DataView

  constructor(text: string) {
    const bytes = new TextEncoder().encode(text)
    this.size = bytes.length
    const padded = new Uint8Array(Math.ceil(bytes.length / 4) * 4)
    padded.set(bytes)
    this.#words = new DataView(padded.buffer)
  }

  /** Writes it, and up to three bytes behind it that are to be overwritten. @returns where it ends */
  put(into: DataView, at: number): number {
    for (let from = 0; from < this.size; from += 4) into.setInt32(at + from, this.#words.getInt32(from))
    return at + this.size
  }
}

/** What stands between the values of the object that a line becomes. */
export interface MemberNames {
  readonly vhost: Piece
  /** Of the first member, and behind a `vhost`. */
  readonly firstIp: Piece
  readonly ip: Piece
  readonly ident: Piece
  readonly user: Piece
  readonly time: Piece
  readonly method: Piece
  readonly target: Piece
  readonly protocol: Piece
  readonly request: Piece
  readonly status: Piece
  readonly bytes: Piece
  readonly referrer: Piece
  readonly userAgent: Piece
  readonly forwarded: Piece
  readonly rest: Piece
  /** Of the member that is added. */
  readonly location: Piece
  readonly null: Piece
  /** Bytes that all of them take in an object, with a `null` or quotes each, and what is written behind the last. */
  readonly room: number
}

/** @param into name of the member that is added */
export function memberNames(into: string): MemberNames {
  const member = (name: (typeof MEMBERS)[number], before = ','): Piece => new Piece(`${before}"${name}":`)
  const location = new Piece(`,${JSON.stringify(into)}:`)
  return {
    vhost: member('vhost', '{'),
    firstIp: member('ip', '{'),
    ip: member('ip'),
    ident: member('ident'),
    user: member('user'),
    time: member('time'),
    method: member('method'),
    target: member('target'),
    protocol: member('protocol'),
    request: member('request'),
    status: member('status'),
    bytes: member('bytes'),
    referrer: member('referrer'),
    userAgent: member('user_agent'),
    forwarded: member('x_forwarded_for'),
    rest: member('rest'),
    location,
    null: new Piece('null'),
    room: MEMBERS.reduce((size, name) => size + name.length + ',"":null'.length, location.size + 3),
  }
}
