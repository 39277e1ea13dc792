import { runInNewContext } from 'node:vm'

/**
 * The object as another realm would have it: `instanceof` does not know it. node:vm makes no objects of the Web.
 *
 * @param own members that it has instead of its own
 */
export function foreign<Value extends object>(value: Value, own: object = {}): Value {
  const prototype: object = runInNewContext('({})')
  return new Proxy(value, {
    getPrototypeOf: () => prototype,
    get: (target, name) => {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name)
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

/** A `Uint8Array` of another realm. */
export function foreignBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return runInNewContext('new Uint8Array(bytes)', { bytes })
}
