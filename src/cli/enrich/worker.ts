// The script of a worker thread: an entry of its own in the build, see worker-script.ts.
import { parentPort } from 'node:worker_threads'
import { BlockEnricher } from '../../enrich/block-enricher.ts'
import { BadLineError } from '../../enrich/errors.ts'
import type { Plan } from '../../enrich/formats/formats.ts'
import type { Block } from '../../enrich/splitter.ts'
import type { DatabaseSet } from '../../location/database-set.ts'
import { openShared, type SharedDatabase } from './shared-database.ts'
import type { Answer, Order } from './worker-messages.ts'

const port = parentPort
let databases: readonly SharedDatabase[] = []
let set: DatabaseSet | undefined
let enricher: BlockEnricher | undefined

port?.on('message', (order: Order) => {
  if (order.kind === 'databases') databases = order.databases
  else if (order.kind === 'plan') usePlan(order.plan)
  else answerBlock(order.block, order.memory)
})

function answerBlock(block: Block, memory: ArrayBuffer | null): void {
  post(answerTo(block, memory))
}

function post(answer: Answer): void {
  port?.postMessage(answer, memoryOf(answer))
}

/** What is handed over instead of copied. */
function memoryOf(answer: Answer): ArrayBuffer[] {
  if (answer.kind !== 'enriched') return []
  const { output, rest } = answer
  return rest === null ? [output.buffer] : [output.buffer, rest.bytes.buffer]
}

function usePlan(plan: Plan): void {
  set ??= openShared(databases)
  enricher = new BlockEnricher(plan, set)
  post({ kind: 'ready' })
}

function answerTo(block: Block, memory: ArrayBuffer | null): Answer {
  if (enricher === undefined) return { kind: 'failed', message: 'a block came before its plan' }
  try {
    return { kind: 'enriched', ...enricher.block(block, memory) }
  } catch (error) {
    if (error instanceof BadLineError) return { kind: 'bad-line', line: error.line, fault: error.fault }
    return {
      kind: 'failed',
      message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    }
  }
}
