import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { run } from '../../../src/cli/program.ts'
import { float, MmdbWriter } from '../../../src/writer.ts'
import { makeFile, temporaryFolder } from '../../temporary.ts'

/** Writes a small database: 81.2.69.0/24 is in London, 2001:4860::/32 in the United States, 1.0.0.0/8 in Sydney. */
export function writeDatabase(folder: string): string {
  const file = join(folder, 'sample.mmdb')
  const writer = new MmdbWriter({ databaseType: 'Sample-City', languages: ['en', 'de'] })
    .insert('81.2.69.0/24', {
      city: { names: { en: 'London' } },
      country: { iso_code: 'GB', names: { en: 'United Kingdom', de: 'Vereinigtes Königreich' } },
      subdivisions: [{ iso_code: 'ENG', names: { en: 'England' } }],
      location: { latitude: float(51.5), longitude: float(-0.5), time_zone: 'Europe/London' },
    })
    .insert('1.0.0.0/8', {
      city: { names: { en: 'Sydney' } },
      country: { iso_code: 'AU', names: { en: 'Australia' } },
      location: { latitude: float(-33.5), longitude: float(151.25), time_zone: 'Australia/Sydney' },
    })
    .insert('2001:4860::/32', { country: { iso_code: 'US', names: { en: 'United States' } } })
  return makeFile(file, writer.toBytes())
}

export interface Outcome {
  readonly status: number
  readonly out: string
  readonly err: string
}

/** The outcome of a command that only prints why it ends. @param message a part of the text, or a pattern for it */
export function failure(status: number, message: string | RegExp): Outcome {
  const err = typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message)
  return { status, out: '', err }
}

/** What a command prints that ends with 0 and has no message. */
export async function printed(running: Promise<Outcome>): Promise<string> {
  const { out, ...rest } = await running
  expect(rest).toEqual({ status: 0, err: '' })
  return out
}

export interface Surroundings {
  /** What standard input gives: all at once, or piece by piece. */
  readonly input?: string | Uint8Array | AsyncIterable<string | Uint8Array>
  /** Whether a person sits at standard input. */
  readonly isTTY?: boolean
  /** The descriptor that standard input says it has. */
  readonly fd?: number
  /** Whether a person sees standard output. */
  readonly isShown?: boolean
  /** Whether a person sees standard error. */
  readonly isErrShown?: boolean
  /** The columns of the terminal. */
  readonly columns?: number
}

/** Runs the command line in this process, with everything around it replaced. */
export async function geofix(
  args: readonly string[],
  { input = '', isTTY = false, fd, isShown = false, isErrShown = false, columns }: Surroundings = {},
): Promise<Outcome> {
  const pieces = typeof input === 'string' || input instanceof Uint8Array ? [input] : input
  const stdin = Object.assign(Readable.from(pieces), { isTTY, ...(fd === undefined ? {} : { fd }) })
  const sink = (isTTY: boolean) =>
    Object.assign(new PassThrough(), { isTTY, ...(columns === undefined ? {} : { columns }) })
  const [stdout, stderr] = [sink(isShown), sink(isErrShown)]
  const outputs = Promise.all([text(stdout), text(stderr)])
  const status = await run(args, { stdin, stdout, stderr })
  stdout.end()
  stderr.end()
  const [out, err] = await outputs
  return { status, out, err }
}

/**
 * A folder with the small database, and how to write files to it and to run `geofix enrich` with it.
 *
 * @param flags of each run
 */
export function workspace(...flags: readonly string[]) {
  const folder = temporaryFolder()
  const DB = writeDatabase(folder)
  const at = (name: string): string => join(folder, name)
  let count = 0
  return {
    folder,
    DB,
    at,
    /** A folder of its own for a test, so that what is left behind can be seen. */
    freshFolder(): string {
      mkdirSync(at(`folder-${++count}`))
      return at(`folder-${count}`)
    },
    /** Writes a file. @returns its path */
    file(name: string, content: string | Uint8Array): string {
      return makeFile(at(name), content)
    },
    enrich: (args: readonly string[], input: Surroundings['input'] = '') =>
      geofix(['enrich', '--db', DB, ...flags, ...args], { input }),
  }
}

/** An input that has this text, and then cannot be read. */
export async function* failingAfter(text: string): AsyncGenerator<string> {
  yield text
  throw Object.assign(new Error('read failed'), { code: 'EIO' })
}

/** Arguments as one types them. Values are not split at blanks; lists are several arguments. */
export function words(
  text: TemplateStringsArray,
  ...values: readonly (string | readonly string[])[]
): string[] {
  const args: string[] = []
  let isOpen = false
  for (const [index, part] of text.entries()) {
    const [first = '', ...others] = part.split(' ')
    if (isOpen) args.push(`${args.pop() ?? ''}${first}`)
    else if (first !== '') args.push(first)
    args.push(...others.filter((each) => each !== ''))
    const value = values[index]
    if (Array.isArray(value)) args.push(...value)
    else if (typeof value === 'string')
      args.push(/(^|\s)$/.test(part) ? value : `${args.pop() ?? ''}${value}`)
    isOpen = typeof value === 'string'
  }
  return args
}

/** The values on the lines of NDJSON. */
export function valuesIn(out: string) {
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

/** NDJSON with an address in each line: of three, one in London, one in Sydney, one private. */
export function ndjson(lines: number, from = 0): string {
  let text = ''
  for (let index = from; index < from + lines; index++) {
    const ip = ['81.2.69.142', '1.2.3.4', '10.0.0.1'][index % 3]
    text += `{"id":${index},"ip":"${ip}","path":"/a/b/c/${index}"}\n`
  }
  return text
}
