import { isatty } from 'node:tty'

/** The message by which a primary process has a worker reload. */
export const ASK_RELOAD = 'geofix:reload'

let requests: ReloadRequests | null = null

/**
 * The requests to this process. Call this at its start: SIGHUP would end it while its modules and databases are loaded, and a
 * terminal that was closed no longer looks like one.
 */
export function reloadRequests(): ReloadRequests {
  requests ??= new ReloadRequests()
  return requests
}

/**
 * Requests to reload the keys and the databases: SIGHUP, or for a worker the message of its primary process. If standard
 * input is a terminal, SIGHUP says that the terminal is closed, and ends the process as it ends any other. On Windows it
 * always says that: the system then ends the process, and nobody else can send it.
 */
class ReloadRequests {
  /** The signal, or the message, that asks for a reload. */
  #asked: unknown = 'SIGHUP'
  #reload: (() => Promise<void>) | null = null
  #isAsked = false
  #isReloading = false

  /** Listens from now on. A request before `serve` is kept: the files may have changed after they were opened. */
  constructor() {
    if (process.platform !== 'win32' && !isatty(0)) process.on('SIGHUP', this.#take)
  }

  /** Obeys the primary process only. A signal to the whole group reaches workers twice: directly, and through that process. */
  obeyPrimary(): void {
    this.#asked = ASK_RELOAD
    this.#isAsked = false
    process.on('message', this.#take)
  }

  /** @param reload is called for each request from now on, and once more for those that come while it runs. Must not reject */
  serve(reload: () => Promise<void>): void {
    this.#reload = reload
    void this.#run()
  }

  /** Ignores requests from now on: the process will end. */
  ignore(): void {
    this.#reload = null
  }

  /** Stops listening. */
  forget(): void {
    this.ignore()
    requests = null
    process.off('SIGHUP', this.#take)
    process.off('message', this.#take)
  }

  readonly #take = (message: unknown): void => {
    if (message !== this.#asked) return
    this.#isAsked = true
    void this.#run()
  }

  async #run(): Promise<void> {
    if (this.#isReloading) return
    this.#isReloading = true
    while (this.#isAsked && this.#reload !== null) {
      this.#isAsked = false
      await this.#reload()
    }
    this.#isReloading = false
  }
}
