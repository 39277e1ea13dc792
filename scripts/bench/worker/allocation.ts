import { Resolver } from '../../../src/index.ts'
import { readAddresses } from './address-file.ts'
import { answer } from './answer.ts'
import { each } from './pass.ts'

const WARM_UP = 20

/**
 * Bytes that a warm lookup allocates. Needs `--expose-gc` and room for young objects, so that nothing is
 * collected between the two looks at the heap.
 */
export async function measureAllocation(database = '', list = ''): Promise<void> {
  const collect = globalThis.gc
  if (collect === undefined) throw new Error('start node with --expose-gc')
  const geo = await Resolver.open(database)
  const addresses = readAddresses(list)
  const { pass } = each(addresses, (ip) => geo.lookup(ip))
  for (let time = 0; time < WARM_UP; time++) pass(0, addresses.length)
  collect()
  const before = process.memoryUsage().heapUsed
  const found = pass(0, addresses.length)
  answer({ bytes: (process.memoryUsage().heapUsed - before) / addresses.length, found })
}
