/** Counts the users of something, and ends it when the last one has given it back. It starts with one user. */
export class UseCount {
  readonly #end: () => void
  #users = 1

  /** @param end is called once */
  constructor(end: () => void) {
    this.#end = end
  }

  /** Adds a user. @returns `false`, and adds none, when the last user has gone already */
  add(): boolean {
    if (this.#users === 0) return false
    this.#users++
    return true
  }

  /** Removes a user. Each user calls it once. */
  remove(): void {
    if (this.#users > 0 && --this.#users === 0) this.#end()
  }
}
