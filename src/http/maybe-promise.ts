/** A value now or later. Most requests need no promise, and each promise costs a turn of the event loop and memory. */
export type MaybePromise<Value> = Value | Promise<Value>

/** Calls `next` with a value: at once, unless the value is a promise. */
export function chain<Value, Next>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Next>,
): MaybePromise<Next> {
  return isPromise(value) ? value.then(next) : next(value)
}

/** Knows native promises only, which is fast. `await` others first. */
export function isPromise<Value>(value: MaybePromise<Value>): value is Promise<Value> {
  return value instanceof Promise
}
