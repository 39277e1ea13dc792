import type { Measurement } from './statistics.ts'

export type Unit = 'a second' | 'ms' | 'MB'

/** What is measured of one contender. */
export interface Figure extends Measurement {
  readonly unit: Unit
  /** Of addresses that were asked for, how many had an answer: 0 to 1. */
  readonly found?: number
}

/** What has to be reached. */
export interface Target {
  readonly kind: 'at least' | 'at most'
  readonly value: number
}

export const atLeast = (value: number): Target => ({ kind: 'at least', value })
export const atMost = (value: number): Target => ({ kind: 'at most', value })

/** One line of the table: Geofix beside a peer, or an amount by itself. */
export interface Row {
  /** Name of the database. */
  readonly database: string
  readonly what: string
  readonly figure: Figure
  /** `null` where there is nothing to be compared with. */
  readonly peer: { readonly name: string; readonly figure: Figure } | null
  /** Ours by the peer's; `null` without a peer. */
  readonly ratio: number | null
  /** What the ratio has to reach; without a peer the figure, in its unit. */
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

/** `null` where nothing is asked for. */
export function isMet({ target, ratio, figure }: Row): boolean | null {
  if (target === null) return null
  const value = ratio ?? figure.median
  return target.kind === 'at least' ? value >= target.value : value <= target.value
}
