import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { gunzip, gunzipSync } from 'node:zlib'
import { Resolver } from '../../../src/index.ts'
import { answer } from './answer.ts'

/** Times opening a compressed database up to its first answer, or decompressing the same bytes, once. */
export async function measureOpening(how = '', path = '', address = ''): Promise<void> {
  if (how === 'open') {
    const started = performance.now()
    const geo = await Resolver.open(path)
    geo.lookup(address)
    answer({ milliseconds: performance.now() - started })
    return
  }
  const bytes = readFileSync(path)
  const started = performance.now()
  if (how === 'gunzipSync') gunzipSync(bytes)
  else await promisify(gunzip)(bytes)
  answer({ milliseconds: performance.now() - started })
}
