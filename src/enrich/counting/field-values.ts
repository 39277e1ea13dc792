/** What a field of a log usually has, whatever its name. */
export type FieldRole = 'status' | 'method' | 'bytes' | 'path'

/** Finds the values of the `counted` fields of a plan in the last line that a format has read. */
export interface FieldValues {
  /** After `find` returns `true`: the value is `bytes[start, end)`, as UTF-8, without quotes and escapes of CSV and JSON. */
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
  /**
   * Finds a value. The line was `resolved` or `unresolved`, and its bytes have not changed.
   *
   * @param field index in `counted`
   * @returns whether the line has a value there: `false` too if its format writes that it is unknown, as `-` or `null`
   */
  find(field: number): boolean
}

/** The index of a field by its name, or after a slash, which tells the name from a key of a count; -1 if there is none. */
export function fieldIndex(names: readonly string[], field: string): number {
  const index = names.indexOf(field)
  return index === -1 && field.startsWith('/') ? names.indexOf(field.slice(1)) : index
}
