import { readFileSync } from 'node:fs'

/**
 * The most memory that a process, this one if none is named, has had resident so far; `null` where the system is
 * not Linux or the process has ended. Bytes.
 */
export function peakBytes(process: number | 'self' = 'self'): number | null {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(statusOf(process))?.[1]
  return kilobytes === undefined ? null : Number(kilobytes) * 1024
}

function statusOf(process: number | 'self'): string {
  try {
    return readFileSync(`/proc/${process}/status`, 'utf8')
  } catch {
    return ''
  }
}
