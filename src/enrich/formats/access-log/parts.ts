import type { ReaderField } from '../../reading/record-reader.ts'

/** The parts of a line, in the order of the members of its object. */
export const PARTS: readonly string[] = [
  ...'vhost ip ident user time method target protocol'.split(' '),
  ...'request status bytes referrer user_agent x_forwarded_for rest'.split(' '),
]
/** Indexes in {@link PARTS}. */
export const [VHOST, HOST, IDENT, USER, TIME, METHOD, TARGET, PROTOCOL] = [0, 1, 2, 3, 4, 5, 6, 7] as const
export const [REQUEST, STATUS, SIZE, REFERRER, AGENT, FORWARDED, REST] = [8, 9, 10, 11, 12, 13, 14] as const

/** The parts of a request and its answer. */
export const REQUEST_PARTS: readonly number[] = [METHOD, TARGET, PROTOCOL, STATUS, SIZE]
/** Parts that are left out of the object if the line does not have them. Other missing parts are `null`. */
export const OPTIONAL: readonly number[] = [VHOST, REQUEST, FORWARDED, REST]
export const FIELDS = PARTS.map((name, part): ReaderField => {
  return { name, kind: part === STATUS || part === SIZE ? 'digits' : 'text' }
})

/** How lines begin and end. */
export interface LineLayout {
  /** Whether lines begin with a virtual host, as in Apache's `vhost_combined`. */
  readonly hasVhost: boolean
  /** Whether the user said which word is the client's. Otherwise other lines can begin without or with a virtual host. */
  readonly isWordNamed: boolean
  /**
   * Whether the quoted part after the user agent is the client's `X-Forwarded-For`, as in the log format `main` of nginx's
   * default configuration. `trustedProxies` decides how much of it is believed.
   */
  readonly hasForwarded: boolean
}
