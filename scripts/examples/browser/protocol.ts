import type { ByteSource, LocationRecord, SharedDatabases } from 'geofix/core'

/** What the page asks its worker: to use databases, or for a location. */
export type Question =
  | { readonly id: number; readonly shared: SharedDatabases }
  | { readonly id: number; readonly source: ByteSource | string }
  | { readonly id: number; readonly address: string; readonly locale: string }

/** What the worker answers. An error of Geofix has a code. */
export interface Answer {
  readonly id: number
  readonly record?: LocationRecord
  readonly error?: string
}
