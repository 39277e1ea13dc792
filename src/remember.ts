/**
 * Returns the cached value of a key, making it on the first use. A full cache is emptied, which needs no
 * bookkeeping per hit; only callers and files with endless new keys fill it.
 *
 * @param make must not return `undefined`
 */
export function remember<Key, Value>(
  cache: Map<Key, Value>,
  maxEntries: number,
  key: Key,
  make: (key: Key) => Value,
): Value {
  let value = cache.get(key)
  if (value === undefined) {
    value = make(key)
    if (cache.size >= maxEntries) cache.clear()
    cache.set(key, value)
  }
  return value
}
