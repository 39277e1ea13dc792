import { DataCheck } from './data-check.ts'
import type { DataSection } from './data-section.ts'
import { type DatabaseFault, FaultList } from './fault-list.ts'
import type { Metadata } from './metadata.ts'
import type { SearchTree } from './search-tree.ts'
import { TreeCheck } from './tree-check.ts'

/** What the check of a whole database has come to. */
export interface Verification {
  /** The first hundred faults; none when the database is sound. */
  readonly faults: readonly DatabaseFault[]
  /** How many there are in all. */
  readonly faultCount: number
  readonly nodeCount: number
  /** Distinct records that the search tree leads to. */
  readonly recordCount: number
  /** Values in the data section, keys of maps included. */
  readonly valueCount: number
}

/** How far a clock may be behind that of whoever built a database. Milliseconds. */
const DAY = 86_400_000

/**
 * Checks all of a database, as `mmdbctl verify` and libmaxminddb's verifier do.
 *
 * @param bytes of the file, uncompressed
 */
export function verify(searchTree: SearchTree, section: DataSection, bytes: Uint8Array): Verification {
  const faults = new FaultList()
  const { metadata } = searchTree
  checkMetadata(metadata, faults)
  const tree = new TreeCheck(searchTree, section, faults)
  tree.run()
  const data = new DataCheck(section, bytes, faults)
  data.run(tree.records)
  return {
    faults: faults.faults,
    faultCount: faults.count,
    nodeCount: metadata.nodeCount,
    recordCount: tree.recordCount,
    valueCount: data.valueCount,
  }
}

function checkMetadata(metadata: Metadata, faults: FaultList): void {
  const { nodeCount, databaseType, buildDate, start } = metadata
  if (nodeCount === 0) faults.add('the metadata counts no nodes', start)
  if (databaseType === '') faults.add('the metadata names no type of database', start)
  if (buildDate === null) faults.add('the metadata says an impossible time of building', start)
  else if (buildDate.getTime() > Date.now() + DAY) {
    faults.add(`the metadata says that it was built in the future, on ${buildDate.toISOString()}`, start)
  }
}
