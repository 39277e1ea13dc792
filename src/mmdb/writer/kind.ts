/** What a value is, for a message that refuses it. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (typeof value === 'object') return `a value of class ${value.constructor?.name ?? '(none)'}`
  return `a value of type ${typeof value}`
}

/** An object of another realm (a worker, a test runner's sandbox) has another Object.prototype. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
