/** Normalises a value for comparison: bytes as hexadecimal, `-0` as 0, maps and objects as entries in any order. */
export function plainValue(value: unknown): unknown {
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('hex') }
  if (Object.is(value, -0)) return 0
  if (Array.isArray(value)) return value.map(plainValue)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, each]) => [key, plainValue(each)] as const)
  return new Map(entries)
}
