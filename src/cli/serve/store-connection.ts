// One connection to Valkey or Redis. It reads only the forms of answers that the commands here have, so that a broken store
// can neither take memory nor end the process.
import { connect as connectTcp, isIP, type Socket } from 'node:net'
// biome-ignore lint/style/noRestrictedImports: it connects to the store that the operator names, and to nothing else.
import { connect as connectTls } from 'node:tls'

const DEFAULT_PORT = 6379
/** How long the store may take to accept a connection, and TLS. */
const CONNECT_MS = 2000
/** How long a command waits for its answer. */
const ANSWER_MS = 250
/** The most bytes of a line of an answer. */
const MAX_ANSWER_BYTES = 16_384
/** The most characters of the store's own words in a message, and of what is not an answer. */
const MAX_WORDS = 200
const MAX_SHOWN = 60

/** Text, or a count and a time. */
export type StoreAnswer = string | readonly number[]

/** The store did not answer in time. */
export class StoreDelay extends Error {
  override readonly name = 'StoreDelay'
}

/** The store sent what is not an answer to a command. */
export class StoreNonsense extends Error {
  override readonly name = 'StoreNonsense'
}

export class StoreConnection {
  readonly #socket: Socket
  /** The functions that wait for answers, the oldest first. The store answers in the order of the commands. */
  readonly #questions: ((answer: StoreAnswer | Error) => void)[] = []
  readonly #password: string
  readonly #closed: (error: Error) => void
  #unread = ''
  /** The numbers so far of the answer that is being read; `null` between two answers. */
  #numbers: number[] | null = null
  #error: Error | null = null

  /**
   * Connects, and sends the user, the password and the number of the database.
   *
   * @param url of `redis:` or `rediss:`
   * @param closed is called once when the connection cannot be used any longer
   */
  constructor(url: string, closed: (error: Error) => void) {
    const { protocol, hostname, port, username, password, pathname } = new URL(url)
    const host = hostname.replace(/^\[|\]$/g, '')
    const at = { host, port: port === '' ? DEFAULT_PORT : Number(port), noDelay: true, keepAlive: true }
    const servername = isIP(host) === 0 ? host : undefined
    this.#password = decodeURIComponent(password)
    this.#closed = closed
    const socket = protocol === 'rediss:' ? connectTls({ ...at, servername }) : connectTcp(at)
    this.#socket = socket
    const late = setTimeout(
      () => this.destroy(new Error('the store does not accept the connection')),
      CONNECT_MS,
    )
    socket.once(protocol === 'rediss:' ? 'secureConnect' : 'connect', () => clearTimeout(late))
    socket.setEncoding('latin1').on('data', (text: string) => this.#read(text))
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => {
      clearTimeout(late)
      this.destroy(new Error('the store closed the connection'))
    })
    const must = (...command: string[]): void =>
      void this.#ask(command, CONNECT_MS).catch((error) => this.destroy(error))
    if (password !== '') {
      const user = username === '' ? [] : [decodeURIComponent(username)]
      must('AUTH', ...user, this.#password)
    }
    if (pathname.length > 1) must('SELECT', pathname.slice(1))
    // For people who list the clients of the store. It may refuse that.
    void this.#ask(['CLIENT', 'SETNAME', 'geofix'], CONNECT_MS).catch(() => {})
  }

  /** Sends a command. @throws Error with the words of a store that refuses it, StoreDelay, or the error of the connection */
  ask(...command: string[]): Promise<StoreAnswer> {
    return this.#ask(command, this.#socket.connecting ? CONNECT_MS : ANSWER_MS)
  }

  destroy(error: Error): void {
    if (this.#error !== null) return
    this.#error = error
    this.#socket.destroy()
    for (const take of this.#questions.splice(0)) take(error)
    this.#closed(error)
  }

  #ask(command: readonly string[], waitMs: number): Promise<StoreAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#error !== null) return reject(this.#error)
      const late = setTimeout(() => reject(new StoreDelay(`the store needs more than ${waitMs} ms`)), waitMs)
      this.#questions.push((answer) => {
        clearTimeout(late)
        if (answer instanceof Error) reject(answer)
        else resolve(answer)
      })
      const words = command.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
      this.#socket.write(`*${command.length}\r\n${words.join('')}`)
    })
  }

  #read(text: string): void {
    const lines = (this.#unread + text).split('\r\n')
    this.#unread = lines.pop() ?? ''
    try {
      for (const line of lines) this.#readLine(line)
      if (this.#unread.length > MAX_ANSWER_BYTES)
        throw new StoreNonsense('the answer of the store is too long')
    } catch (error) {
      this.destroy(error instanceof Error ? error : new StoreNonsense(String(error)))
    }
  }

  /** Reads a line of RESP 2: a text, an error, or one of the three lines of two numbers. @throws StoreNonsense */
  #readLine(line: string): void {
    const number = /^:(\d{1,15})$/.exec(line)?.[1]
    if (this.#numbers === null && line === '*2') this.#numbers = []
    else if (this.#numbers === null && line.startsWith('+')) this.#take(line.slice(1))
    else if (this.#numbers === null && line.startsWith('-'))
      this.#take(new Error(this.#words(line).slice(1, 1 + MAX_WORDS)))
    else if (this.#numbers !== null && number !== undefined) {
      if (this.#numbers.push(Number(number)) < 2) return
      this.#take(this.#numbers)
      this.#numbers = null
    } else {
      const shown = JSON.stringify(this.#words(line).slice(0, MAX_SHOWN))
      throw new StoreNonsense(`the store sent ${shown}, which is not an answer to the commands of geofix`)
    }
  }

  #take(answer: StoreAnswer | Error): void {
    const take = this.#questions.shift()
    if (take === undefined) throw new StoreNonsense('the store answered what nobody had asked')
    take(answer)
  }

  /** What the store says, without the password: some stores quote a command that they refuse. */
  #words(text: string): string {
    return this.#password === '' ? text : text.replaceAll(this.#password, '…')
  }
}
