import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { run } from '../../../src/cli/program.ts'
import { float, MmdbWriter } from '../../../src/writer.ts'
import { ROOT } from '../../package/project.ts'

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
  writeFileSync(file, writer.toBytes())
  return file
}

export interface Outcome {
  readonly status: number
  readonly out: string
  readonly err: string
}

export interface Surroundings {
  /** What standard input gives: all at once, or piece by piece. */
  readonly input?: string | Uint8Array | AsyncIterable<string | Uint8Array>
  /** Whether a person sits at standard input. */
  readonly isTTY?: boolean
  /** The descriptor that standard input says it has. */
  readonly fd?: number
}

/** Makes a named pipe. */
export function makePipe(folder: string, name: string): string {
  const path = join(folder, name)
  execFileSync('mkfifo', [path])
  return path
}

/** Runs the command line in this process, with everything around it replaced. */
export async function geofix(
  args: readonly string[],
  { input = '', isTTY = false, fd }: Surroundings = {},
): Promise<Outcome> {
  const pieces = typeof input === 'string' || input instanceof Uint8Array ? [input] : input
  const stdin = Object.assign(Readable.from(pieces), { isTTY, ...(fd === undefined ? {} : { fd }) })
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const outputs = Promise.all([text(stdout), text(stderr)])
  const status = await run(args, { stdin, stdout, stderr })
  stdout.end()
  stderr.end()
  const [out, err] = await outputs
  return { status, out, err }
}

/** Starts the built command line as a process of its own. */
export function start(
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [join(ROOT, 'dist/cli.js'), ...args], { env })
  // A process that ended reads no more.
  child.stdin.on('error', () => {})
  return child
}

/** Waits until a process takes SIGHUP, where the system tells, or for some seconds. Node itself takes SIGTERM from the start. */
export async function untilTakesHangup(pid: number | undefined): Promise<void> {
  const status = `/proc/${pid}/status`
  if (!existsSync(status)) return delay(4000)
  for (let waited = 0; waited < 120_000; waited += 10) {
    // The lowest bit is SIGHUP.
    const [, mask = '0'] = /^SigCgt:\s*([\da-f]+)$/m.exec(readFileSync(status, 'utf8')) ?? []
    if ((Number.parseInt(mask.slice(-8), 16) & 1) !== 0) return
    await delay(10)
  }
  throw new Error('waited in vain for a process that takes SIGHUP')
}

/** Waits for a process: its status, or -1 when a signal ended it. */
export async function outcomeOf(child: ChildProcessWithoutNullStreams): Promise<Outcome> {
  const ended = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)))
  const [out, err, status] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { status, out, err }
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
