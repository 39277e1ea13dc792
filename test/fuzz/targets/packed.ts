import assert from 'node:assert/strict'
import fc from 'fast-check'
import { Address } from '../../../src/address/address.ts'
import { isPacked } from '../../../src/bytes/file-kind.ts'
import { findRecord } from '../../../src/location/record-table.ts'
import { Database, type OpenDatabase } from '../../../src/mmdb/database.ts'
import { NO_RECORD } from '../../../src/mmdb/search-tree.ts'
import { openDatabase } from '../../../src/node/open-files.ts'
import { pack, unpack } from '../../../src/packed/pack.ts'
import { ipv4Text } from '../../address/arbitraries.ts'
import { packedOf, partsOf } from '../../packed/parts.ts'
import { mutatedBytes } from '../mutation.ts'
import { sampleDatabases } from '../sample-databases.ts'
import type { Target } from '../target.ts'
import { orInvalid } from './mmdb.ts'

interface Question {
  readonly bytes: Uint8Array
  readonly addresses: readonly string[]
}

/** Some samples are damaged. */
const whole = sampleDatabases.map((bytes) => orInvalid(() => pack(bytes)) ?? bytes)

/** Changed blocks with right sizes and checksums: damage that these do not detect. */
const refitted = whole
  .filter((bytes) => isPacked(bytes))
  .chain((bytes) => {
    const parts = partsOf(bytes)
    const changed = parts.blocks.map((block) =>
      fc.record({
        stream: mutatedBytes(fc.constant(Uint8Array.from(block.stream)), 2),
        plain: mutatedBytes(fc.constant(Uint8Array.from(block.plain)), 1),
      }),
    )
    return fc.tuple(...changed).map((blocks) => packedOf({ ...parts, blocks }))
  })

const inputs: fc.Arbitrary<Question> = fc.record({
  bytes: fc.oneof(mutatedBytes(sampleDatabases, 4), mutatedBytes(whole, 2), refitted),
  addresses: fc.array(fc.oneof(ipv4Text, fc.ipV6(), fc.constantFrom('2.125.160.216', '2001:218::1')), {
    minLength: 1,
    maxLength: 6,
  }),
})

/** A damaged database has the same answers when it is packed, or cannot be; a damaged packed one has none or true ones,
 * or those of the file that it is unpacked to. */
export const packed: Target<Question> = {
  name: 'packed',
  inputs,
  shortRuns: 100,
  check({ bytes, addresses }) {
    const database = orInvalid(() => openDatabase(bytes))
    if (database === null) return
    const other = orInvalid(() =>
      database instanceof Database ? openDatabase(pack(bytes)) : new Database(unpack(bytes)),
    )
    // A search tree with a loop cannot be packed; a block can be damaged.
    if (other === null) return
    assert.deepEqual(other.metadata, database.metadata)
    for (const text of addresses) {
      const address = new Address()
      if (address.parse(text)) assert.deepEqual(answers(other, address), answers(database, address))
    }
  },
}

function answers(database: OpenDatabase, address: Address): unknown {
  const found = orInvalid(() => findRecord(database, address))
  if (found === null) return null
  return {
    found,
    length: address.family > database.metadata.ipVersion ? null : database.ranges.prefixLength,
    record: found === NO_RECORD ? null : orInvalid(() => database.record(found)),
  }
}
