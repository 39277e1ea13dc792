import { createHash } from 'node:crypto'
import {
  createReadStream,
  createWriteStream,
  existsSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isDeepStrictEqual } from 'node:util'
import { createGzip } from 'node:zlib'
import { type TrafficFormat, traffic } from './traffic.ts'

/** Lines at the beginning that show whether a file has what would be generated now. */
const SAMPLE = 1000

/** Lines that are written at once. */
const BLOCK = 1000

/** A file of traffic, as it is and compressed. */
export interface TrafficFile {
  readonly path: string
  readonly packed: string
}

/** Generates the file in `folder` unless exactly that is there. */
export async function trafficFile(
  folder: string,
  format: TrafficFormat,
  lines: number,
): Promise<TrafficFile> {
  const path = join(folder, `enrich-${lines}.${format === 'ndjson' ? 'ndjson' : 'log'}`)
  const file = { path, packed: `${path}.gz` }
  const sample = createHash('sha256')
    .update(firstLines(format, SAMPLE, lines))
    .digest('hex')
  // Written last: a run that was stopped in between leaves no note.
  const note = `${path}.json`
  const isThere = [note, file.path, file.packed].every((each) => existsSync(each))
  if (isThere && isDeepStrictEqual(JSON.parse(readFileSync(note, 'utf8')), contents(file, sample)))
    return file
  await pipeline(Readable.from(blocks(traffic(format, lines))), createWriteStream(file.path))
  await pipeline(createReadStream(file.path), createGzip(), createWriteStream(file.packed))
  writeFileSync(note, JSON.stringify(contents(file, sample)))
  return file
}

/** The beginning of a file that has `lines` of them. */
export function firstLines(format: TrafficFormat, count: number, lines: number): string {
  let text = ''
  let left = count
  for (const line of traffic(format, lines)) {
    if (left-- === 0) break
    text += line
  }
  return text
}

function contents({ path, packed }: TrafficFile, sample: string) {
  return { sample, bytes: statSync(path).size, packedBytes: statSync(packed).size }
}

function* blocks(lines: Iterable<string>): Generator<string> {
  let block: string[] = []
  for (const line of lines) {
    if (block.push(line) < BLOCK) continue
    yield block.join('')
    block = []
  }
  yield block.join('')
}
