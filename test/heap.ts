import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage: unknown = runInNewContext('gc')

/** Bytes that JavaScript holds on to: objects, and memory outside of the heap that they own. */
export function heldMemory(): number {
  if (typeof collectGarbage !== 'function') throw new Error('the garbage collector cannot be called')
  // What an object outside of the heap owns goes with the second pass.
  for (let pass = 0; pass < 3; pass++) collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
