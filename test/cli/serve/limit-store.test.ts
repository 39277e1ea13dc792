// Stores that are broken. Real ones are in limit-store.package.test.ts.
import { createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { LimitStore } from '../../../src/cli/serve/limit-store.ts'
import { portOf } from '../../listening.ts'
import { readableLog } from './running.ts'

type Answers = (command: readonly string[]) => string | null | Promise<string | null>

/** Commands are arrays of texts without line ends. @param answers the bytes that answer a command; `null`: none */
async function fakeStore(answers: Answers): Promise<{ port: number; connections: () => number }> {
  let connections = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    connections++
    sockets.add(socket)
    let unread = ''
    let last: Promise<void> = Promise.resolve()
    socket.on('error', () => {})
    socket.setEncoding('latin1').on('data', (text: string) => {
      unread += text
      for (;;) {
        const lines = unread.split('\r\n')
        const count = 1 + 2 * Number(lines[0]?.slice(1))
        if (unread === '' || lines.length <= count) return
        unread = lines.slice(count).join('\r\n')
        const command = lines.slice(1, count).filter((_, index) => index % 2 === 1)
        const answer = answers(command)
        last = last.then(async () => {
          const bytes = await answer
          if (bytes !== null) socket.write(bytes, 'latin1')
        })
      }
    })
  })
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { port: await portOf(server), connections: () => connections }
}

function open(port: number, user = '') {
  const { log, lines, until } = readableLog()
  const store = new LimitStore(`redis://${user}127.0.0.1:${port}`, log)
  onTestFinished(() => store.close())
  const limiter = store.makeLimiter({ name: 'free', rate: 1, burst: 3, batch: 0 }, 3)
  return {
    store,
    lines,
    /** What is left after a request; `null` if it was refused. */
    ask: async (who = 'key:one'): Promise<number | null> =>
      limiter.consume(who, 1).then(
        ({ remainingPoints }) => remainingPoints,
        () => null,
      ),
    /** The message of an event. */
    until: async (event: string, count?: number) => (await until(event, count)).message,
  }
}

const isCount = ([name = '', , , key = '']: readonly string[]): boolean =>
  name.startsWith('EVAL') && !key.endsWith('probe')

/** Answers as a store that works, except for what `answer` says about requests. */
function working(answer: () => string | null | Promise<string | null>): Answers {
  return (command) => {
    if (isCount(command)) return answer()
    return command[0]?.startsWith('EVAL') ? '*2\r\n:1\r\n:1000\r\n' : '+OK\r\n'
  }
}

const FAULTS: readonly [what: string, bytes: string, message: RegExp, isNonsense: boolean][] = [
  ['full memory', "-OOM command not allowed when used memory > 'maxmemory'.\r\n", /^OOM command not/, false],
  ['a replica', "-READONLY You can't write against a read only replica.\r\n", /^READONLY You/, false],
  ['no permission', "-NOPERM this user has no permissions to run 'eval'\r\n", /^NOPERM this/, false],
  ['a script that is never known', '-NOSCRIPT No matching script.\r\n', /^NOSCRIPT No/, false],
  ['another node', '-MOVED 3999 10.0.0.7:6379\r\n', /^MOVED 3999 10\.0\.0\.7:6379$/, false],
  ['long words', `-${'x'.repeat(9000)}\r\n`, /^x{200}$/, false],
  ['nil', '$-1\r\n', /sent "\$-1", which is not/, true],
  ['text', '+OK\r\n', /answered "OK" instead/, true],
  ['an empty array', '*0\r\n', /sent "\*0"/, true],
  ['a count that is text', '*2\r\n$1\r\n1\r\n:1000\r\n', /sent "\$1"/, true],
  ['a count that is no number', '*2\r\n:NaN\r\n:1\r\n', /sent ":NaN"/, true],
  ['a count below 0', '*2\r\n:-1\r\n:1\r\n', /sent ":-1"/, true],
  ['a count of 0', '*2\r\n:0\r\n:1\r\n', /answered \[0,1\] instead/, true],
  ['a count that is too large', '*2\r\n:9999999999999999\r\n:1\r\n', /sent ":9{16}"/, true],
  ['nested arrays', `${'*1\r\n'.repeat(100_000)}:1\r\n`, /sent "\*1"/, true],
  ['an error in an array', '*2\r\n-ERR\r\n:1\r\n', /sent "-ERR"/, true],
  ['an array without an end', `*2\r\n:1\r\n:${'1'.repeat(20_000)}`, /too long/, true],
  ['a text without an end', `$16000\r\n${'x'.repeat(70_000)}`, /sent "\$16000"/, true],
  ['a long text', `+${'x'.repeat(16_000)}\r\n`, /answered "x{59} instead/, true],
  ['a huge text', '$999999999\r\n', /sent "\$9{9}"/, true],
  ['another protocol', 'HTTP/1.1 400 Bad Request\r\n\r\n', /sent "HTTP\/1\.1 400 Bad Request"/, true],
  ['a push of RESP 3', '>1\r\n$-1\r\n', /sent ">1"/, true],
  ['an answer too many', '*2\r\n:1\r\n:1000\r\n*2\r\n:1\r\n:1000\r\n', /nobody had asked/, true],
]

describe('a store that answers a request with', () => {
  it.each(FAULTS)('%s is left, and requests are counted here', async (_, bytes, message, isNonsense) => {
    const { port } = await fakeStore(working(() => bytes))
    const { store, lines, ask, until } = open(port)
    await until('limits-shared')
    await ask('key:first')
    expect(await until('limits-alone')).toMatch(message)
    expect(store.isShared).toBe(false)
    expect([await ask(), await ask(), await ask(), await ask()]).toEqual([2, 1, 0, null])
    expect(lines().map(({ event }) => event)).toEqual(['limits-shared', 'limits-alone'])
    expect(store.dropped).toBe(isNonsense ? 1 : 0)
  })

  it.each(FAULTS.slice(5, 7))('%s and does so from the start is not used', async (_, bytes, message) => {
    const { port } = await fakeStore(([name = '']) => (name.startsWith('EVAL') ? bytes : '+OK\r\n'))
    const { ask, until } = open(port)
    expect(await until('limits-alone')).toMatch(message)
    expect([await ask(), await ask(), await ask(), await ask()]).toEqual([2, 1, 0, null])
  })
})

describe('a store', () => {
  it('that works again is used again, and what makes it fail after that is said', async () => {
    let answer = '-OOM full\r\n'
    const { port } = await fakeStore(working(() => answer))
    const { store, ask, until } = open(port)
    await until('limits-shared')
    await ask()
    await until('limits-alone')
    answer = '*2\r\n:3\r\n:1000\r\n'
    await until('limits-shared', 2)
    expect([store.isShared, await ask()]).toEqual([true, 0])
    answer = '-READONLY replica\r\n'
    await ask()
    expect(await until('limits-alone', 2)).toBe('READONLY replica')
  })

  it('that is slow is left after three answers', async () => {
    const { port } = await fakeStore(working(() => delay(320, '*2\r\n:1\r\n:1000\r\n')))
    const { ask, until, store } = open(port)
    await until('limits-shared')
    expect([await ask(), await ask()]).toEqual([2, 1])
    expect(store.isShared).toBe(true)
    expect([await ask(), await ask()]).toEqual([0, null])
    expect(await until('limits-alone')).toBe('the store needs more than 250 ms')
  })

  it('that is slow from the start, or still, is not used', async () => {
    const slow: Answers = ([name = '']) =>
      name.startsWith('EVAL') ? delay(320, '*2\r\n:1\r\n:1000\r\n') : '+OK\r\n'
    const { port, connections } = await fakeStore(slow)
    const { lines, ask, until } = open(port)
    expect(await until('limits-alone')).toBe('the store needs more than 250 ms')
    expect([await ask(), await ask(), await ask(), await ask()]).toEqual([2, 1, 0, null])
    while (connections() < 3) await delay(5)
    expect(lines()).toHaveLength(1)
  })

  it('that fails again and again is tried less often', async () => {
    const { port, connections } = await fakeStore(() => '-ERR no\r\n')
    const { lines } = open(port)
    await delay(1000)
    expect(connections()).toBeGreaterThan(1)
    // After 0, 100, 300 and 700 ms.
    expect(connections()).toBeLessThanOrEqual(4)
    expect(lines()).toHaveLength(1)
  })

  it('gets user, password and database first, and its words are logged without the password', async () => {
    const commands: string[][] = []
    const { port } = await fakeStore((command) => {
      commands.push([...command])
      return command[0] === 'AUTH' ? "-ERR unknown command 'AUTH', beginning with: 'me' 'p:w'\r\n" : '+OK\r\n'
    })
    const { until } = open(port, 'me:p%3Aw@')
    expect(await until('limits-alone')).toBe("ERR unknown command 'AUTH', beginning with: 'me' '…'")
    expect(commands[0]).toEqual(['AUTH', 'me', 'p:w'])
  })

  it('counts each plan and each key for itself, in milliseconds', async () => {
    const commands: string[][] = []
    const { port } = await fakeStore((command) => {
      if (isCount(command)) commands.push([...command])
      return command[0]?.startsWith('EVAL') ? '*2\r\n:1\r\n:1000\r\n' : '+OK\r\n'
    })
    const { store, ask, until } = open(port)
    await until('limits-shared')
    await ask('key:one')
    await store.makeLimiter({ name: 'half', rate: 2, burst: 3, batch: 0 }, 1.5).consume('key:one', 1)
    expect(commands.map(([, , ...rest]) => rest)).toEqual([
      ['1', '{geofix}:free:key:one', '3000'],
      ['1', '{geofix}:half:key:one', '1500'],
    ])
  })
})
