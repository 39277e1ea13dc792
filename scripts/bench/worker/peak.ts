import { readFileSync } from 'node:fs'

/**
 * Peak resident memory of a process in bytes, by default of this one; `null` if the system is not Linux or the process
 * has ended.
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
