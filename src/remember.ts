/**
 * The value of a key, made once. The memory has a hard bound: it is emptied when it is full, which only callers
 * and files with endless new keys bring about, and costs no bookkeeping.
 *
 * @param most entries
 */
export function remember<Key, Value>(
  memory: Map<Key, Value>,
  most: number,
  key: Key,
  make: (key: Key) => Value,
): Value {
  let value = memory.get(key)
  if (value === undefined) {
    value = make(key)
    if (memory.size >= most) memory.clear()
    memory.set(key, value)
  }
  return value
}
