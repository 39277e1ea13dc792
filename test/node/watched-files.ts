import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MmdbWriter } from '../../src/writer.ts'

/** Addresses of both families with a location in the databases of {@link generation}. */
export const KNOWN = ['81.2.69.142', '2a01:e0a::1'] as const

/** An address that only databases made with `canary` have. */
export const CANARY = '8.8.8.8'

/** A database with the number in each field of its records, built that many days after the start of 2026. */
export function generation(number: number, { canary = false, padding = 0 } = {}): Uint8Array {
  const record = {
    city: { names: { en: `city ${number}` } },
    country: { iso_code: 'GB', names: { en: `country ${number}` } },
    subdivisions: [{ iso_code: 'ENG', names: { en: `region ${number}` } }],
    location: { latitude: 1 + number / 1000, longitude: 1 + number / 1000, time_zone: 'Europe/London' },
  }
  const writer = new MmdbWriter({
    databaseType: `Generation-${number}`,
    buildDate: new Date(Date.UTC(2026, 0, 1 + number)),
  })
  writer.insert('81.2.69.0/24', record).insert('2a01:e0a::/32', record)
  if (canary) writer.insert('8.8.8.0/24', record)
  if (padding > 0) writer.insert('9.9.9.0/24', { padding: new Uint8Array(padding).fill(number) })
  return writer.toBytes()
}

/** Ways in which programs replace a file. */
export const replacements: Readonly<Record<string, (path: string, bytes: Uint8Array) => void>> = {
  'renamed over': (path, bytes) => {
    writeFileSync(`${path}.new`, bytes)
    renameSync(`${path}.new`, path)
  },
  'written in place': (path, bytes) => writeFileSync(path, bytes),
  'deleted and written again': (path, bytes) => {
    rmSync(path)
    writeFileSync(path, bytes)
  },
}

/** A volume as Kubernetes mounts it: the file is a link into `..data`, which is a link to a folder. */
export class ConfigVolume {
  readonly path: string
  readonly #folder: string
  #version = 0

  constructor(folder: string) {
    this.#folder = folder
    this.path = join(folder, 'city.mmdb')
    mkdirSync(folder)
    symlinkSync(join('..data', 'city.mmdb'), this.path)
  }

  publish(bytes: Uint8Array): void {
    const name = `..version-${++this.#version}`
    mkdirSync(join(this.#folder, name))
    writeFileSync(join(this.#folder, name, 'city.mmdb'), bytes)
    symlinkSync(name, join(this.#folder, '..data_new'))
    renameSync(join(this.#folder, '..data_new'), join(this.#folder, '..data'))
    if (this.#version > 1) rmSync(join(this.#folder, `..version-${this.#version - 1}`), { recursive: true })
  }
}
