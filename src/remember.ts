/**
 * Returns the cached value of a key. Makes the value on the first use. A full cache is emptied, because this needs no
 * bookkeeping per hit. Only a caller or a file with an unlimited number of keys fills it.
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
