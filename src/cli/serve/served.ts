import type { Reply } from '../../http/exchange.ts'
import type { Answered } from '../../http/handler.ts'
import type { Operation } from '../../http/route.ts'

/** An answer of `geofix serve`, and what the log and the metrics say of it. */
export interface Served {
  readonly reply: Reply
  /** `null` if the path has none. */
  readonly operation: Operation | Extra | null
  /** The `id` of the key, if the request had a valid one. */
  readonly keyId: string | null
  /** How many addresses were found, and how many failed by `reason` or `code`. */
  readonly outcomes: Readonly<Record<string, number>>
}

/** What is served besides the operations of the service. */
export type Extra = 'health' | 'ready' | 'openapi' | 'page' | 'metrics'

/** An answer that needs no key and looks nothing up. */
export function plain(operation: Extra | null, reply: Reply): Served {
  return { reply, operation, keyId: null, outcomes: {} }
}

/** An answer of the service. @param reply instead of the service's own */
export function asked({ answer, reply: own }: Answered, reply: Reply = own): Served {
  const { operation, keyId, outcomes } = answer
  return { reply, operation, keyId, outcomes }
}
