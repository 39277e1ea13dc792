import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** How to start a process. */
export interface Command {
  /** For messages. */
  readonly name: string
  readonly file: string
  readonly args: readonly string[]
}

/** A process that writes a line of JSON when it is ready, and one more for each line that it is given. */
export class Child {
  readonly #name: string
  readonly #process: ChildProcessWithoutNullStreams
  readonly #lines: AsyncIterator<string>
  #errors = ''

  constructor({ name, file, args }: Command) {
    this.#name = name
    this.#process = spawn(file, args)
    this.#process.on('error', (error) => {
      this.#errors += error.message
    })
    // Writing to a process that has ended fails too; that it has ended is what matters.
    this.#process.stdin.on('error', () => {})
    this.#process.stderr.on('data', (chunk: Buffer) => {
      this.#errors += chunk.toString()
    })
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]()
  }

  /**
   * The next line that it writes.
   *
   * @throws Error when it ends instead
   */
  async read<Answer>(): Promise<Answer> {
    const { value, done } = await this.#lines.next()
    if (done === true) throw new Error(`${this.#name}: ${causeIn(this.#errors)}`)
    return JSON.parse(value)
  }

  async ask<Answer>(line: string): Promise<Answer> {
    this.#process.stdin.write(`${line}\n`)
    return this.read<Answer>()
  }

  async stop(): Promise<void> {
    this.#process.stdin.end()
    if (this.#process.exitCode === null && this.#process.signalCode === null)
      await once(this.#process, 'exit')
  }
}

/** What a process has to say that ends by itself. */
export async function answerOf<Answer>(command: Command): Promise<Answer> {
  const child = new Child(command)
  const answer = await child.read<Answer>()
  await child.stop()
  return answer
}

/** Node shows a stack trace around the message. */
export function causeIn(errors: string): string {
  const lines = errors.split('\n').filter((line) => line.trim() !== '')
  return lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1) ?? 'it ended without a word'
}
