import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { Resolver } from '../../src/index.ts'
import { isLookupFailure } from '../../src/location/location-record.ts'
import { MmdbWriter, pack } from '../../src/writer.ts'
import { invalid } from '../invalid.ts'
import { makeFile, temporaryFolder } from '../temporary.ts'
import { openFilesOf } from './file-descriptors.ts'

/** Which call fails, with which error, and how many calls succeed before it. */
const fault = vi.hoisted(() => ({ call: '', code: '', after: 0 }))

vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>()
  const failing = (call: 'fstatSync' | 'readSync') => {
    const original = fs[call]
    return (...args: unknown[]): unknown => {
      if (fault.call === call && fault.after-- <= 0) {
        throw Object.assign(new Error(`${fault.code}: made by the test, ${call}`), {
          code: fault.code,
          syscall: call.replace('Sync', ''),
        })
      }
      return Reflect.apply(original, fs, args)
    }
  }
  return {
    ...fs,
    fstatSync: failing('fstatSync'),
    readSync: failing('readSync'),
  }
})

const folder = temporaryFolder()
const writer = new MmdbWriter({ databaseType: 'Test-City' })
for (let i = 0; i < 9000; i++) {
  writer.insert(`1.${i >>> 8}.${i & 255}.0/24`, { country: { iso_code: 'AU' }, postal: { code: String(i) } })
}
const raw = writer.insert('1.25.0.0/24', { country: { iso_code: 'GB' } }).toBytes()
const PACKED = makeFile(join(folder, 'db.packed'), pack(raw))
/** In another block of IPv4 networks than the first record. */
const IP = '1.25.0.142'

afterEach(() => {
  fault.call = ''
})

function failing(call: string, code: string, after = 0): void {
  Object.assign(fault, { call, code, after })
}

const errors = ['EIO', 'ESTALE', 'EACCES'] as const

describe.each(errors)('a system error %s', (code) => {
  it.each([
    ['the state of a packed file', 'fstatSync', pack(raw)],
    ['the first read of a packed file', 'readSync', pack(raw)],
    ['the state of another file', 'fstatSync', raw],
    ['the first read of another file', 'readSync', raw],
  ])('in %s is an InvalidDatabaseError with path and cause', async (_, call, bytes) => {
    // Written just now, so that no resolver shares it.
    const path = makeFile(join(folder, `${code}-${call}-${bytes.length}`), bytes)
    // A few calls more each time, until opening needs no more.
    let failures = 0
    for (let after = 0; after < 12; after++) {
      for (const isSync of [true, false]) {
        failing(call, code, after)
        const open = async () => (isSync ? Resolver.openSync(path) : Resolver.open(path))
        const opened = await open().catch((error: unknown) => error)
        fault.call = ''
        if (opened instanceof Resolver) {
          // It opened before the call: the databases are complete, not empty.
          expect(opened.lookup(IP).country.code).toBe('GB')
          opened.close()
          continue
        }
        failures++
        expect(opened).toBeInstanceOf(InvalidDatabaseError)
        expect(opened).toMatchObject({ code: 'INVALID_DATABASE', path })
        expect(opened).toHaveProperty('cause.code', code)
        expect(openFilesOf(path)).toEqual([])
      }
    }
    // The asynchronous form opens other files through promises, which this test does not fail.
    expect(failures).toBeGreaterThan(0)
  })

  it('in a lookup is an InvalidDatabaseError, and goes away with its cause', () => {
    const runs = [
      (geo: Resolver) => geo.lookup(IP),
      (geo: Resolver) => geo.raw(IP),
      (geo: Resolver) => geo.network(IP),
      (geo: Resolver) => geo.share(),
    ]
    for (const run of runs) {
      // With no decoded blocks.
      const geo = Resolver.openSync(PACKED)
      failing('readSync', code)
      expect(() => run(geo)).toThrow(invalid(`(${code})`, PACKED))
      expect(() => run(geo)).toThrow(expect.objectContaining({ cause: expect.objectContaining({ code }) }))
      failing('readSync', code)
      const [result] = geo.lookupMany([IP])
      expect(result !== undefined && isLookupFailure(result) && result.error.code).toBe('INVALID_DATABASE')
      // Only a read of the whole file asks whether it was changed.
      failing('fstatSync', code)
      expect(geo.lookup(IP).country.code).toBe('GB')
      expect(() => geo.share()).toThrow(invalid(`(${code})`, PACKED))
      fault.call = ''
      geo.close()
    }
  })
})

it('a packed file of damaged networks does not open as one without networks', () => {
  const bytes = Uint8Array.from(pack(raw))
  const directoryEnd = 32 + new DataView(bytes.buffer).getUint32(16, true)
  bytes.fill(0, directoryEnd)
  expect(() => Resolver.openSync(bytes)).toThrow(invalid('the file is damaged'))
})
