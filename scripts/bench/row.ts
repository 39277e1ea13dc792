/** The median of rounds, and their range. */
export interface Measurement {
  readonly median: number
  readonly lowest: number
  readonly highest: number
  readonly rounds: readonly number[]
}

export function measurement(rounds: readonly number[]): Measurement {
  const sorted = [...rounds].sort((a, b) => a - b)
  const [lowest, highest] = [sorted[0], sorted.at(-1)]
  if (lowest === undefined || highest === undefined) throw new Error('no rounds')
  const upper = sorted[sorted.length >> 1] ?? highest
  const lower = sorted[(sorted.length - 1) >> 1] ?? lowest
  return { median: (lower + upper) / 2, lowest, highest, rounds }
}

export type Unit = 'a second' | 's' | 'ms' | 'MB'

/** A measured quantity of one contender. */
export interface Figure extends Measurement {
  readonly unit: Unit
  /** Share of the addresses that were found, from 0 to 1. */
  readonly found?: number
}

export const figureOf = (rounds: readonly number[], unit: Unit): Figure => ({ ...measurement(rounds), unit })

/** A limit for a ratio or an amount. */
export interface Target {
  readonly kind: 'at least' | 'at most'
  readonly value: number
}

export const atLeast = (value: number): Target => ({ kind: 'at least', value })
export const atMost = (value: number): Target => ({ kind: 'at most', value })

/** The `database` of rows about packed databases, which name the one in question themselves. */
export const PACKED = 'packed databases'

/** The `database` of rows about what people run by default, with the embedded city database. */
export const DEFAULTS = 'defaults'

/** A row of the table: Geofix compared with a peer, or an amount without a peer. */
export interface Row {
  /** Name of the database. */
  readonly database: string
  readonly what: string
  readonly figure: Figure
  /** `null` for an amount. */
  readonly peer: { readonly name: string; readonly figure: Figure } | null
  /** Our figure divided by the peer's; `null` without a peer. */
  readonly ratio: number | null
  /** Limit of the ratio; without a peer, limit of the figure in its unit. */
  readonly target: Target | null
}

export function ratioRow(
  database: string,
  what: string,
  figure: Figure,
  peer: { readonly name: string; readonly figure: Figure },
  target: Target | null,
): Row {
  return { database, what, figure, peer, ratio: figure.median / peer.figure.median, target }
}

export function amountRow(database: string, what: string, figure: Figure, target: Target | null): Row {
  return { database, what, figure, peer: null, ratio: null, target }
}

/** `null` without a target. */
export function isMet({ target, ratio, figure }: Row): boolean | null {
  if (target === null) return null
  const value = ratio ?? figure.median
  return target.kind === 'at least' ? value >= target.value : value <= target.value
}
