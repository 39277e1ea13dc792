// What the rest of this package may do with a resolver, and programs may not.
import type { DatabaseSet } from './location/database-set.ts'

/**
 * The method through which the rest of this package borrows the databases of a resolver. A registered symbol, because an
 * application can load both the ESM and the CommonJS build.
 *
 * @internal
 */
export const BORROW: unique symbol = Symbol.for('geofix.borrowDatabases')

/**
 * The method through which a reloader replaces the databases.
 *
 * @internal
 */
export const REPLACE: unique symbol = Symbol('geofix.replace')

/**
 * Lends the databases of a resolver for one synchronous call.
 *
 * @internal
 * @throws TypeError when the resolver is closed
 */
export function withDatabases<Result>(
  resolver: { [BORROW](): DatabaseSet },
  use: (set: DatabaseSet) => Result,
): Result {
  const set = resolver[BORROW]()
  try {
    return use(set)
  } finally {
    set.release()
  }
}
