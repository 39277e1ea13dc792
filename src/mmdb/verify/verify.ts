import type { DataSection } from '../data-section.ts'
import type { Metadata } from '../metadata.ts'
import type { SearchTree } from '../search-tree.ts'
import { DataSectionCheck } from './data-section-check.ts'
import { type DatabaseFault, FaultList } from './fault-list.ts'
import { SearchTreeCheck } from './search-tree-check.ts'

/** The result of checking a whole database. */
export interface Verification {
  /** The first hundred faults; empty when the database is sound. */
  readonly faults: readonly DatabaseFault[]
  /** How many faults there are in total. */
  readonly faultCount: number
  readonly nodeCount: number
  /** Distinct records that the search tree leads to. */
  readonly recordCount: number
  /** Values in the data section, keys of maps included. */
  readonly valueCount: number
}

/** How far the clock of this machine may be behind the clock of the machine that built a database. */
const MAX_CLOCK_SKEW_MS = 86_400_000

/**
 * Checks a whole database, as `mmdbctl verify` and libmaxminddb's verifier do.
 *
 * @param bytes the uncompressed file
 */
export function verify(tree: SearchTree, data: DataSection, bytes: Uint8Array): Verification {
  const faults = new FaultList()
  const { metadata } = tree
  checkMetadata(metadata, faults)
  const treeCheck = new SearchTreeCheck(tree, data, faults)
  treeCheck.run()
  const dataCheck = new DataSectionCheck(data, bytes, faults)
  dataCheck.run(treeCheck.records)
  return {
    faults: faults.faults,
    faultCount: faults.count,
    nodeCount: metadata.nodeCount,
    recordCount: treeCheck.recordCount,
    valueCount: dataCheck.valueCount,
  }
}

function checkMetadata(metadata: Metadata, faults: FaultList): void {
  const { nodeCount, databaseType, buildDate, start } = metadata
  if (nodeCount === 0) faults.add('the metadata has a node_count of 0', start)
  if (databaseType === '') faults.add('the metadata has an empty database_type', start)
  if (buildDate === null) faults.add('the metadata has a build_epoch that is not a possible date', start)
  else if (buildDate.getTime() > Date.now() + MAX_CLOCK_SKEW_MS) {
    faults.add(`the metadata has a build_epoch in the future, ${buildDate.toISOString()}`, start)
  }
}
