import type { Enriched } from '../../enrich/block-enricher.ts'
import type { Plan } from '../../enrich/formats/formats.ts'
import type { Block } from '../../enrich/splitter.ts'
import type { SharedDatabase } from './shared-database.ts'

/** To a worker: databases first, then a plan, which holds for the blocks behind it; each plan and each block is answered, in order. */
export type Order =
  | { readonly kind: 'databases'; readonly databases: readonly SharedDatabase[] }
  | { readonly kind: 'plan'; readonly plan: Plan }
  | { readonly kind: 'block'; readonly block: Block; readonly memory: ArrayBuffer | null }

/** From a worker. Errors lose their class on the way between threads, so they are sent as data. */
export type Answer =
  | { readonly kind: 'ready' }
  | ({ readonly kind: 'enriched' } & Enriched)
  | { readonly kind: 'bad-line'; readonly line: number; readonly fault: string }
  | { readonly kind: 'failed'; readonly message: string }
