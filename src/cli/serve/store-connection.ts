// One connection to Valkey or Redis. It reads only the forms of answers that the commands here have, so that a broken store
// can neither take memory nor end the process.
import { connect as connectTcp, isIP, type Socket } from 'node:net'
// biome-ignore lint/style/noRestrictedImports: it connects to the store that the operator names, and to nothing else.
import { connect as connectTls } from 'node:tls'

const DEFAULT_PORT = 6379
/** How long the store may take to accept a connection, and TLS. */
const CONNECT_MS = 2000
/** How long a question waits for its answer. */
const ANSWER_MS = 250
/** The most bytes of one answer. */
const MAX_ANSWER_BYTES = 16_384
/** The most elements of one answer. */
const MAX_ELEMENTS = 16
/** The most characters of the store's own words in a message. */
const MAX_WORDS = 200

type Scalar = string | number | null
export type StoreAnswer = Scalar | readonly Scalar[]

/** The store refused a command. The message has its own words. */
export class StoreRefusal extends Error {
  override readonly name = 'StoreRefusal'
}

/** The store did not answer in time. */
export class StoreDelay extends Error {
  override readonly name = 'StoreDelay'
}

/** The store sent what is not an answer to a command. */
export class StoreNonsense extends Error {
  override readonly name = 'StoreNonsense'
}

interface Question {
  readonly take: (answer: StoreAnswer | StoreRefusal) => void
  readonly fail: (error: Error) => void
}

export class StoreConnection {
  readonly #socket: Socket
  /** The questions without an answer, the oldest first. The store answers in their order. */
  readonly #questions: Question[] = []
  readonly #password: string
  readonly #closed: (error: Error) => void
  #unread = ''
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

  /** Sends a command. @throws StoreRefusal, StoreDelay, or the error of the connection */
  ask(...command: string[]): Promise<StoreAnswer> {
    return this.#ask(command, this.#socket.connecting ? CONNECT_MS : ANSWER_MS)
  }

  destroy(error: Error): void {
    if (this.#error !== null) return
    this.#error = error
    this.#socket.destroy()
    for (const { fail } of this.#questions.splice(0)) fail(error)
    this.#closed(error)
  }

  #ask(command: readonly string[], waitMs: number): Promise<StoreAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#error !== null) return reject(this.#error)
      const late = setTimeout(() => reject(new StoreDelay(`the store needs more than ${waitMs} ms`)), waitMs)
      const take = (answer: StoreAnswer | StoreRefusal): void => {
        clearTimeout(late)
        if (answer instanceof StoreRefusal) reject(answer)
        else resolve(answer)
      }
      const fail = (error: Error): void => {
        clearTimeout(late)
        reject(error)
      }
      this.#questions.push({ take, fail })
      const words = command.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
      this.#socket.write(`*${command.length}\r\n${words.join('')}`)
    })
  }

  #read(text: string): void {
    this.#unread += text
    try {
      let at = 0
      for (;;) {
        const read = answerAt(this.#unread, at)
        if (read === null) break
        const question = this.#questions.shift()
        if (question === undefined) throw new StoreNonsense('the store answered what nobody had asked')
        const { answer } = read
        // Some stores quote a command that they refuse.
        const isQuoted = answer instanceof StoreRefusal && this.#password !== ''
        question.take(isQuoted ? new StoreRefusal(answer.message.replaceAll(this.#password, '…')) : answer)
        at = read.end
      }
      this.#unread = this.#unread.slice(at)
      if (this.#unread.length > MAX_ANSWER_BYTES)
        throw new StoreNonsense('the answer of the store is too long')
    } catch (error) {
      this.destroy(error instanceof Error ? error : new StoreNonsense(String(error)))
    }
  }
}

interface Read<Answer> {
  readonly answer: Answer
  readonly end: number
}

/** Reads an answer of RESP 2. @returns `null` if its end is missing. @throws StoreNonsense */
function answerAt(text: string, at: number): Read<StoreAnswer | StoreRefusal> | null {
  if (text[at] !== '*') return scalarAt(text, at)
  const head = lineAt(text, at)
  if (head === null) return null
  const length = integerOf(head.line, MAX_ELEMENTS)
  if (length === -1) return { answer: null, end: head.end }
  const answer: Scalar[] = []
  let { end } = head
  while (answer.length < length) {
    const read = scalarAt(text, end)
    if (read === null) return null
    if (read.answer instanceof StoreRefusal)
      throw new StoreNonsense('the answer of the store has an error in it')
    answer.push(read.answer)
    end = read.end
  }
  return { answer, end }
}

function scalarAt(text: string, at: number): Read<Scalar | StoreRefusal> | null {
  const head = lineAt(text, at)
  if (head === null) return null
  const { line, end } = head
  switch (text[at]) {
    case '+':
      return { answer: line, end }
    case '-':
      return { answer: new StoreRefusal(line.slice(0, MAX_WORDS)), end }
    case ':':
      return { answer: integerOf(line, Number.MAX_SAFE_INTEGER), end }
    case '$': {
      const length = integerOf(line, MAX_ANSWER_BYTES)
      if (length === -1) return { answer: null, end }
      if (text.length < end + length + 2) return null
      if (!text.startsWith('\r\n', end + length)) throw new StoreNonsense('a text of the store has no end')
      return { answer: text.slice(end, end + length), end: end + length + 2 }
    }
    default:
      throw new StoreNonsense('what the store sent is not an answer of Valkey or Redis')
  }
}

/** The line after the first character of an answer. */
function lineAt(text: string, at: number): { readonly line: string; readonly end: number } | null {
  const end = text.indexOf('\r\n', at)
  return end === -1 ? null : { line: text.slice(at + 1, end), end: end + 2 }
}

/** @param most the greatest number that is allowed. The least is -1 for lengths, and -2 for the time that a key has */
function integerOf(line: string, most: number): number {
  const number = /^(?:-[12]|\d{1,16})$/.test(line) ? Number(line) : Number.NaN
  if (number <= most) return number
  throw new StoreNonsense('the store sent a number that is out of range')
}
