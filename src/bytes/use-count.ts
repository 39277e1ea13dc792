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

/** Keeps each holder as long as its target. */
const holders = new WeakMap<object, unknown>()

/**
 * A weak reference to something that is closed at some time, and then needed by nobody. A `WeakRef` keeps its target until the job
 * ends, which for a synchronous program is its whole run. {@link clear} lets the target go at once.
 */
export class ClearableRef<Target extends object> {
  readonly #holder: WeakRef<{ target: Target | undefined }>

  constructor(target: Target) {
    const holder: { target: Target | undefined } = { target }
    holders.set(target, holder)
    this.#holder = new WeakRef(holder)
  }

  /** The target; `undefined` when it was cleared or collected. */
  deref(): Target | undefined {
    return this.#holder.deref()?.target
  }

  clear(): void {
    const holder = this.#holder.deref()
    if (holder !== undefined) holder.target = undefined
  }
}
