// The script of a worker thread, which worker-pool.ts starts. The build makes it a separate entry point.
import { parentPort } from 'node:worker_threads'
import { BlockEnricher } from '../../enrich/block-enricher.ts'
import { BadLineError } from '../../enrich/errors.ts'
import { withFormats } from '../../enrich/formats/formats.ts'
import type { Block } from '../../enrich/reading/splitter.ts'
import type { DatabaseSet } from '../../location/database-set.ts'
import { attachInThread } from '../databases.ts'
import type { WorkerReply, WorkerRequest } from './worker-pool.ts'

const port = parentPort
let set: DatabaseSet | undefined
let enricher: BlockEnricher | undefined

/** Resolves when the requests so far are answered: the code for a plan can have to be loaded. */
let last = Promise.resolve()
port?.on('message', (request: WorkerRequest) => {
  last = last.then(() => answer(request))
  // Whatever Node does with rejections that nobody handles, the thread must end with the error.
  last.catch((error: unknown) =>
    setImmediate(() => {
      throw error
    }),
  )
})

async function answer(request: WorkerRequest): Promise<void> {
  if (request.kind === 'plan') {
    const opened = set ?? attachInThread(request.databases)
    set = opened
    const load = () => import('../../enrich/formats/all-formats.ts')
    enricher = await withFormats(() => new BlockEnricher(request.plan, opened), load)
    return post({ kind: 'ready' })
  }
  if (enricher === undefined) throw new TypeError('a block came before its plan')
  if (request.kind === 'block') return post(enrichBlock(enricher, request.block, request.memory))
  const counts = enricher.locationCounts()
  post({ kind: 'enriched', output: new Uint8Array(0), counts, lines: 0, rest: null })
}

/** Memory for the output of a block, reused. Empty after it was transferred. */
let own = new ArrayBuffer(0)

function post(reply: WorkerReply): void {
  // An output that did not fit the shared memory is transferred.
  const buffer = reply.kind === 'enriched' ? reply.output.buffer : null
  port?.postMessage(reply, buffer instanceof ArrayBuffer ? [buffer] : [])
}

function enrichBlock(enricher: BlockEnricher, block: Block, memory: SharedArrayBuffer): WorkerReply {
  try {
    if (own.byteLength < memory.byteLength) own = new ArrayBuffer(memory.byteLength)
    const enriched = enricher.block(block, own)
    const { output } = enriched
    if (output.length > memory.byteLength) return { kind: 'enriched', ...enriched }
    // The block was enriched in memory of this thread. Copy the whole output once.
    const shared = new Uint8Array(memory, 0, output.length)
    shared.set(output)
    return { kind: 'enriched', ...enriched, output: shared }
  } catch (error) {
    if (error instanceof BadLineError) return { kind: 'bad-line', line: error.line, fault: error.fault }
    throw error
  }
}
