import { printable, type Terminal } from '../terminal.ts'

/** Notes of a command to its user, on standard error. */
export class Notes {
  readonly #terminal: Terminal
  readonly #isQuiet: boolean
  readonly #before: () => void
  readonly #noted = new Set<string>()

  /** @param before called before each note, such as to erase the progress from the terminal */
  constructor(terminal: Terminal, isQuiet: boolean, before: () => void) {
    this.#terminal = terminal
    this.#isQuiet = isQuiet
    this.#before = before
  }

  readonly add = (note: string): void => {
    if (this.#isQuiet) return
    this.#before()
    this.#terminal.stderr.write(`geofix: ${printable(note)}\n`)
  }

  /** The same, but not for a note that was given before. */
  readonly addOnce = (note: string): void => {
    if (this.#noted.has(note)) return
    this.#noted.add(note)
    this.add(note)
  }
}
