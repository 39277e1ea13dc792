import { existsSync, readFileSync } from 'node:fs'

const STATUS = '/proc/self/status'

/** The most memory that this process has had resident so far; `null` where the system is not Linux. Bytes. */
export function peakBytes(): number | null {
  if (!existsSync(STATUS)) return null
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(STATUS, 'utf8'))?.[1]
  return kilobytes === undefined ? null : Number(kilobytes) * 1024
}
