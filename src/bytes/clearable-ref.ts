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
