import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A process to start. */
export interface Command {
  /** For messages. */
  readonly name: string
  readonly file: string
  readonly args: readonly string[]
}

/** A process that prints a line of JSON when it is ready, and another one for each line of its input. */
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
    // If the process has exited, read() reports that.
    this.#process.stdin.on('error', () => {})
    this.#process.stderr.on('data', (chunk: Buffer) => {
      this.#errors += chunk.toString()
    })
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]()
  }

  /**
   * Reads its next line.
   *
   * @throws Error if it exits instead
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

/** Runs a process that prints one line and exits. */
export async function answerOf<Answer>(command: Command): Promise<Answer> {
  const child = new Child(command)
  const answer = await child.read<Answer>()
  await child.stop()
  return answer
}

/** Finds the message in a stack trace of Node or Java. */
export function causeIn(errors: string): string {
  const lines = errors.split('\n').filter((line) => line.trim() !== '')
  return (
    lines.find((line) => /^(\w*Error|Exception)\b/.test(line)) ??
    lines.at(-1) ??
    'it exited without a message'
  )
}
