// The script of a worker thread, which pool.ts starts. The build makes it a separate entry point.
import { parentPort } from 'node:worker_threads'
import { BlockEnricher } from '../../enrich/block-enricher.ts'
import { BadLineError } from '../../enrich/errors.ts'
import type { Plan } from '../../enrich/formats/formats.ts'
import type { Block } from '../../enrich/splitter.ts'
import type { DatabaseSet } from '../../location/database-set.ts'
import type { WorkerReply, WorkerRequest } from './pool.ts'
import { openShared, type SharedDatabase } from './shared-database.ts'

const port = parentPort
let databases: readonly SharedDatabase[] = []
let set: DatabaseSet | undefined
let enricher: BlockEnricher | undefined

port?.on('message', (request: WorkerRequest) => {
  if (request.kind === 'databases') databases = request.databases
  else if (request.kind === 'plan') usePlan(request.plan)
  else post(enrichBlock(request.block, request.memory))
})

function post(reply: WorkerReply): void {
  port?.postMessage(reply)
}

function usePlan(plan: Plan): void {
  set ??= openShared(databases)
  enricher = new BlockEnricher(plan, set)
  post({ kind: 'ready' })
}

function enrichBlock(block: Block, memory: SharedArrayBuffer): WorkerReply {
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
