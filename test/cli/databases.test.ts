import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { openDatabases, useOwnZone } from '../../src/cli/databases.ts'
import { embedded } from '../../src/embedded.ts'
import type { DatabaseSet } from '../../src/location/database-set.ts'
import { Timezone } from '../../src/location/timezone.ts'
import { addressOf } from '../address/address-of.ts'
import { temporaryFolder } from '../temporary.ts'

const path = join(temporaryFolder(), 'city.mmdb.packed')
copyFileSync(fileURLToPath(embedded.city), path)

const find = (set: DatabaseSet, ip: string): number => set.find(addressOf(ip))

describe('openDatabases', () => {
  it('reads a packed database from its file when a lookup needs it, and not into memory', async () => {
    const [one, many] = [await openDatabases([path]), await openDatabases([path], false, { isWhole: true })]
    for (const each of [one, many]) expect(find(each, '81.2.69.142')).not.toBe(0)
    writeFileSync(path, '')
    expect(() => find(one, '216.58.192.1')).toThrow('the file was changed while it is open')
    expect(find(many, '216.58.192.1')).not.toBe(0)
    one.release()
    many.release()
  })
})

it('useOwnZone finds the offsets of the platform, without a formatter, and leaves the zone of the process', () => {
  vi.stubEnv('TZ', 'Pacific/Kiritimati')
  const instants = [Date.now(), Date.UTC(1973, 6), Date.UTC(2005, 0), Date.UTC(2026, 2, 29, 1)]
  const offsets = () =>
    Intl.supportedValuesOf('timeZone').map((id) => instants.map((at) => new Timezone(id).at(at).offset))
  const expected = offsets()
  useOwnZone()
  const format = vi.spyOn(Intl, 'DateTimeFormat')
  expect(offsets()).toEqual(expected)
  expect(format).not.toHaveBeenCalled()
  expect(new Date().getTimezoneOffset()).toBe(-840)
})
