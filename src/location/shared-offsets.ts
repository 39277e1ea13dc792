/**
 * Offsets of time zones that all threads share. The platform keeps data for each zone that a thread asks it about, so
 * hundreds of zones would cost each thread much memory.
 *
 * One number for each zone of `Intl.supportedValuesOf('timeZone')`, the same list in all threads of a process: a window
 * without a change, and the offset in it. Threads write whole numbers, so that no lock is needed.
 */
let table: Int32Array | undefined
/** Numbers of the zones in the table by lower-case identifier. */
let numbers: ReadonlyMap<string, number> | undefined

/** Minutes plus half of this are from 1 to this: no offset was larger than 15:13 hours. */
const MINUTES_RANGE = 4096
/** Later windows, from the year 6279, do not fit. */
const MAX_WINDOW = 2 ** 18

/** The memory of the table, for the other threads. */
export function shareOffsets(): SharedArrayBuffer {
  if (table?.buffer instanceof SharedArrayBuffer) return table.buffer
  const memory = new SharedArrayBuffer(zoneNumbers().size * Int32Array.BYTES_PER_ELEMENT)
  table = new Int32Array(memory)
  return memory
}

/** Uses the table of another thread. */
export function attachOffsets(memory: SharedArrayBuffer): void {
  // A process has one list. Another process or version cannot send shared memory.
  if (memory.byteLength === zoneNumbers().size * Int32Array.BYTES_PER_ELEMENT) table = new Int32Array(memory)
}

/**
 * The offset in a window, in minutes east of UTC.
 *
 * @param id lower-case
 * @returns `undefined` if no thread has shared it
 */
export function sharedOffset(id: string, window: number): number | undefined {
  if (table === undefined) return undefined
  const value = table[zoneNumbers().get(id) ?? -1] ?? 0
  if (value === 0 || Math.floor(value / MINUTES_RANGE) !== window) return undefined
  return (value % MINUTES_RANGE) - MINUTES_RANGE / 2
}

/** Shares the offset of a window without a change. */
export function shareOffset(id: string, window: number, minutes: number | null): void {
  if (table === undefined || minutes === null || window < 0 || window >= MAX_WINDOW) return
  const number = zoneNumbers().get(id)
  if (number !== undefined) table[number] = window * MINUTES_RANGE + minutes + MINUTES_RANGE / 2
}

function zoneNumbers(): ReadonlyMap<string, number> {
  // Browsers before 2022 have no such list. They then share nothing.
  numbers ??= new Map(Intl.supportedValuesOf?.('timeZone').map((id, number) => [id.toLowerCase(), number]))
  return numbers
}
