import { cpus, totalmem } from 'node:os'

/** What the figures were measured on. */
export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGB: number
  readonly system: string
  readonly node: string
}

export function thisMachine(): Machine {
  const all = cpus()
  return {
    cpu: all[0]?.model.trim() ?? 'unknown',
    cores: all.length,
    memoryGB: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${process.arch}`,
    node: process.version,
  }
}
