import { isOutOfMemory } from '../bytes/byte-limit.ts'
import { InvalidDatabaseError } from '../errors.ts'
import { utf8Decoder } from '../realm.ts'
import type { DataSection } from './data-section.ts'
import { Database, type OpenDatabase } from './database.ts'
import { DataType } from './format.ts'
import type { Metadata } from './metadata.ts'
import { NOT_WALKED, tooLong, walkTree } from './networks.ts'
import { RecordCheck } from './record-decoder.ts'
import { NO_RECORD, type SearchTree } from './search-tree.ts'

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

/** One thing that is wrong with a database. */
export interface DatabaseFault {
  /** What is wrong. */
  readonly message: string
  /** Where, in bytes from the start of the uncompressed file; `null` if it has no single location. */
  readonly offset: number | null
}

/**
 * Checks a whole database, as `mmdbctl verify` and libmaxminddb's verifier do. Takes seconds for a large file, and up to the
 * file's size in memory; for a packed file, about five times the unpacked size.
 */
export function verify(database: OpenDatabase): Verification {
  const faults = new FaultList()
  const { nodeCount } = database.metadata
  const unpacked = database instanceof Database ? database : database.unpacked((step) => faults.attempt(step))
  if (unpacked === null) {
    return { faults: faults.faults, faultCount: faults.count, nodeCount, recordCount: 0, valueCount: 0 }
  }
  const { tree, data, bytes } = unpacked
  checkMetadata(tree.metadata, faults)
  const marks = checkSearchTree(tree, data, faults)
  // An overlay can hide all networks of a record, which then stays in the file.
  const hidesRecords = tree.metadata.overlayBytes > 0
  const valueCount = checkDataSection(data, bytes, marks, faults, hidesRecords)
  let recordCount = 0
  for (const _ of marked(data, marks, RECORD)) recordCount++
  return { faults: faults.faults, faultCount: faults.count, nodeCount, recordCount, valueCount }
}

/** A damaged file can have millions of faults. */
export const MAX_LISTED_FAULTS = 100

/** The first faults that were found, and how many there are in total. */
export class FaultList {
  readonly faults: DatabaseFault[] = []
  count = 0

  /** Several records can lead to the same fault, which is listed once. */
  add(message: string, offset: number | null = null): void {
    if (this.faults.some((each) => each.message === message && each.offset === offset)) return
    this.count++
    if (this.faults.length < MAX_LISTED_FAULTS) this.faults.push({ message, offset })
  }

  /**
   * Runs an action that throws at the first fault, and adds that fault.
   *
   * @returns whether there was none
   * @throws InvalidDatabaseError when there is not enough memory: that is not a fault of the database
   */
  attempt(action: () => unknown): boolean {
    try {
      action()
      return true
    } catch (error) {
      if (!(error instanceof InvalidDatabaseError) || isOutOfMemory(error.cause)) throw error
      this.add(error.fault, error.offset ?? null)
      return false
    }
  }
}

/** How far the clock of this machine may be behind the clock of the machine that built a database. */
const MAX_CLOCK_SKEW_MS = 86_400_000

function checkMetadata({ nodeCount, databaseType, buildDate, start }: Metadata, faults: FaultList): void {
  if (nodeCount === 0) faults.add('the metadata has a node_count of 0', start)
  if (databaseType === '') faults.add('the metadata has an empty database_type', start)
  if (buildDate === null) faults.add('the metadata has a build_epoch that is not a possible date', start)
  else if (buildDate.getTime() > Date.now() + MAX_CLOCK_SKEW_MS) {
    faults.add(`the metadata has a build_epoch in the future, ${buildDate.toISOString()}`, start)
  }
}

// What leads to a byte of the data section, or starts there: one bit each.
/** The search tree leads to it. */
const RECORD = 1
/** A pointer leads to it. */
const TARGET = 2
/** A value starts there. */
const START = 4
/** A value starts there that is not inside another value. */
const OUTERMOST = 8

/** The offsets with a mark, in ascending order. */
function* marked({ base }: DataSection, marks: Uint8Array, mark: number): Generator<number> {
  for (let at = 0; at < marks.length; at++) if (((marks[at] ?? 0) & mark) !== 0) yield base + at
}

/** The height of a node that was not visited. */
const UNKNOWN = 255

/**
 * Walks a whole search tree: every path ends within the length of an address, every record lies in the data
 * section, and every node is reachable. A subtree with several paths to it is walked once.
 *
 * @returns marks of the bytes of the data section: {@link RECORD} where the tree leads to a record
 */
export function checkSearchTree(tree: SearchTree, data: DataSection, faults: FaultList): Uint8Array {
  const { nodeCount, ipVersion } = tree.metadata
  const bits = ipVersion === 4 ? 32 : 128
  const marks = new Uint8Array(data.end - data.base)
  /** The bits of the longest path below each node. */
  const heights = new Uint8Array(nodeCount).fill(UNKNOWN)
  let isTooDeep = false
  if (nodeCount > 0) {
    walkTree(
      tree,
      0,
      bits,
      {
        known(node) {
          const height = heights[node] ?? 0
          return height === UNKNOWN ? NOT_WALKED : height
        },
        leaf(value) {
          faults.attempt(() => {
            const offset = tree.record(value)
            if (offset !== NO_RECORD) marks[offset - data.base] = RECORD
          })
          return 0
        },
        join(node, left, right, depth) {
          const height = 1 + Math.max(left, right)
          if (depth + height > bits) isTooDeep = true
          heights[node] = Math.min(height, bits)
          return height
        },
      },
      () => {
        isTooDeep = true
        return bits
      },
    )
  }
  const unreached = heights.reduce((count, height) => count + (height === UNKNOWN ? 1 : 0), 0)
  // Nodes below a path that is too deep were not visited.
  if (isTooDeep) faults.add(tooLong(bits))
  else if (unreached > 0) faults.add(`no path leads to ${unreached} of ${nodeCount} nodes of the search tree`)
  return marks
}

/** Uses of a value by records, on average. Real files have about 10; in a hostile file they are unlimited. */
const MAX_MEAN_USES = 32
/** The budget of files with few values, which takes less than a second. */
const MIN_VALUE_BUDGET = 10_000_000

/**
 * Reads a data section from start to end, as strict verifiers do: values follow one another without a gap, all
 * text is UTF-8, and pointers and the search tree lead to the start of a value.
 *
 * @param bytes the whole file
 * @param marks of {@link checkSearchTree}, which gets those of values and pointers
 * @returns how many values there are, including the keys and values inside maps and arrays
 */
function checkDataSection(
  data: DataSection,
  bytes: Uint8Array,
  marks: Uint8Array,
  faults: FaultList,
  mayHideRecords: boolean,
): number {
  const { base, end } = data
  const mark = (offset: number, kind: number): void => {
    marks[offset - base] = (marks[offset - base] ?? 0) | kind
  }
  const decoder = utf8Decoder({ fatal: true })
  let valueCount = 0
  const isWhole = faults.attempt(() => {
    for (let at = base, pending = 0; at < end || pending > 0; at = data.next) {
      mark(at, pending === 0 ? START | OUTERMOST : START)
      if (pending > 0) pending--
      valueCount++
      data.open(at)
      const { type, size, start, fieldOffset } = data
      if (data.viaPointer) mark(fieldOffset, TARGET)
      else if (type === DataType.map) pending += 2 * size
      else if (type === DataType.array) pending += size
      else if (type === DataType.utf8String) {
        try {
          // A copy: platforms refuse to decode shared memory in place.
          decoder.decode(bytes.slice(start, start + size))
        } catch {
          faults.add('a text is not UTF-8', fieldOffset)
        }
      }
    }
  })
  checkRecords(data, marks, Math.max(MIN_VALUE_BUDGET, valueCount * MAX_MEAN_USES), faults)
  // After a fault it is not known where values start.
  if (!isWhole) return valueCount
  const addFaults = (kind: number, others: number, fault: string): void => {
    for (const at of marked(data, marks, kind))
      if (((marks[at - base] ?? 0) & others) === 0) faults.add(fault, at)
  }
  addFaults(RECORD, START, 'the search tree leads into the middle of a value')
  addFaults(TARGET, START, 'a pointer leads into the middle of a value')
  if (!mayHideRecords)
    addFaults(OUTERMOST, RECORD | TARGET, 'neither the search tree nor a pointer leads to a value')
  return valueCount
}

/** Checks each record with its pointers followed, as a reader sees it. @param budget of values in all records */
function checkRecords(data: DataSection, marks: Uint8Array, budget: number, faults: FaultList): void {
  let values = 0
  for (const offset of marked(data, marks, RECORD)) {
    faults.attempt(() => new RecordCheck(data, offset).run())
    values += data.values
    if (values <= budget) continue
    faults.add(`the records lead through pointers to more than ${budget} values`, offset)
    return
  }
}
