import { ExitStatus } from '../terminal.ts'

const STATUSES = {
  SIGHUP: ExitStatus.hangup,
  SIGINT: ExitStatus.interrupted,
  SIGTERM: ExitStatus.terminated,
} as const

type Signal = keyof typeof STATUSES

const SIGNALS: readonly Signal[] = ['SIGHUP', 'SIGINT', 'SIGTERM']

/** A signal that ends the run. */
export class Interruption extends Error {
  override readonly name = 'Interruption'
  readonly status: ExitStatus

  constructor(signal: Signal) {
    super(`interrupted by ${signal}`)
    this.status = STATUSES[signal]
  }
}

/** Listens for signals while a run goes on. */
export class SignalWatch {
  /** Rejects with the first signal; never resolves. */
  readonly signalled: Promise<never>
  #reject: (interruption: Interruption) => void = () => {}
  #hasOne = false

  /** @param last called before a second signal ends the process at once */
  constructor(last: () => void) {
    this.signalled = new Promise((_, reject) => {
      this.#reject = reject
    })
    // A rejection that nothing awaits would end the process with an error.
    this.signalled.catch(() => {})
    this.#last = last
    for (const signal of SIGNALS) process.on(signal, this.#take)
  }

  stop(): void {
    for (const signal of SIGNALS) process.off(signal, this.#take)
  }

  readonly #last: () => void

  readonly #take = (signal: NodeJS.Signals): void => {
    const known = SIGNALS.find((each) => each === signal)
    if (known === undefined) return
    if (this.#hasOne) {
      this.#last()
      process.exit(STATUSES[known])
    }
    this.#hasOne = true
    this.#reject(new Interruption(known))
  }
}
