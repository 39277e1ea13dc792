import assert from 'node:assert/strict'
import fc from 'fast-check'
import { extractUncompressed, findDatabaseInTar } from '../../../src/bytes/extract.ts'
import { isMmdb, isTar, METADATA_MARKER } from '../../../src/bytes/file-kind.ts'
import { InvalidDatabaseError } from '../../../src/errors.ts'
import { archive, entry, paxRecord } from '../../bytes/tar-samples.ts'
import { mutatedBytes } from '../mutation.ts'
import type { Target } from '../target.ts'

const name = fc.constantFrom(
  ...'a.mmdb GeoLite2-City_20260918/GeoLite2-City.mmdb ._a.mmdb x/._a.mmdb README.txt a.MMDB'.split(' '),
  ...['.mmdb', 'x/', 'mmdb', 'a.mmdb.gz', 'a.mmdb\n', ''],
)
const file = fc
  .record({
    name,
    content: fc.uint8Array({ maxLength: 1100 }).map((bytes) => Buffer.concat([bytes, METADATA_MARKER])),
    type: fc.constantFrom('0', '0', '0', '\0', '5', '7', '2', 'g', 'K'),
    prefix: fc.constantFrom('', '', 'folder'),
    size: fc.option(fc.constantFrom('00000000000\0', '77777777777\0', '-1', '9', '0000001000 ', '0x10'), {
      nil: undefined,
      freq: 12,
    }),
  })
  .map(({ size, ...rest }) => [entry(size === undefined ? rest : { ...rest, size })])
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
const longName = name.map((each) => [
  entry({ name: '././@LongLink', type: 'L', content: utf8(`${'d/'.repeat(60)}${each}\0`) }),
  entry({ name: 'cut', content: utf8('long') }),
])
const pax = name.map((each) => [
  entry({
    name: 'PaxHeaders/a',
    type: 'x',
    content: utf8(paxRecord('mtime', '1.5') + paxRecord('path', each)),
  }),
  entry({ name: 'cut', content: utf8('pax') }),
])
const sound = fc
  .array(fc.oneof({ weight: 3, arbitrary: file }, longName, pax), { maxLength: 4 })
  .map((entries) => archive(...entries.flat()))

/** Changed headers with a corrected checksum. */
const refitted = mutatedBytes(sound, 4).map((bytes) => {
  const copy = bytes.slice()
  for (let at = 0; at + 512 <= copy.length; at += 512) {
    const header = copy.subarray(at, at + 512)
    if (Buffer.from(header.subarray(257, 262)).toString('latin1') !== 'ustar') continue
    header.fill(0x20, 148, 156)
    const sum = header.reduce((total, byte) => total + byte, 0)
    header.set(utf8(`${sum.toString(8).padStart(6, '0')}\0 `), 148)
  }
  return copy
})

export const tar: Target<Uint8Array> = {
  name: 'tar',
  inputs: fc.oneof(sound, mutatedBytes(sound), refitted),
  shortRuns: 600,
  check(bytes) {
    let found: Uint8Array
    try {
      found = findDatabaseInTar(bytes)
    } catch (error) {
      assert.ok(error instanceof InvalidDatabaseError, String(error))
      return
    }
    assert.equal(found.buffer, bytes.buffer, 'it is a copy')
    const start = found.byteOffset - bytes.byteOffset
    assert.ok(start >= 512 && start % 512 === 0 && start + found.length <= bytes.length)
    // The header before it has its size in octal.
    const header = Buffer.from(bytes.subarray(start - 512, start)).toString('latin1')
    assert.equal(Number.parseInt(header.slice(124, 136), 8), found.length)
    assert.ok(['0', '\0', '7'].includes(header.slice(156, 157)), 'it is not a regular file')
    if (isTar(bytes) && isMmdb(found)) assert.equal(extractUncompressed(bytes).byteOffset, found.byteOffset)
  },
}
