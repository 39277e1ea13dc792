import { InvalidDatabaseError } from '../errors.ts'
import type { DataSection } from './data-section.ts'
import { DataType } from './format.ts'
import type { Metadata } from './metadata.ts'
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

/** One thing that is wrong with a database. */
export interface DatabaseFault {
  /** What is wrong. */
  readonly message: string
  /** Where, in bytes from the start of the uncompressed file; `null` if it has no single location. */
  readonly offset: number | null
}

/** A damaged file can have millions of faults. */
const MAX_LISTED_FAULTS = 100

/** The first faults that were found, and how many there are in total. */
export class FaultList {
  readonly faults: DatabaseFault[] = []
  #count = 0

  get count(): number {
    return this.#count
  }

  /** Several records can lead to the same fault, which is listed once. */
  add(message: string, offset: number | null = null): void {
    const isListed = this.faults.some((each) => each.message === message && each.offset === offset)
    if (isListed) return
    this.#count++
    if (this.faults.length < MAX_LISTED_FAULTS) this.faults.push({ message, offset })
  }

  /**
   * Runs an action that throws at the first fault, and adds that fault.
   *
   * @returns whether the action ended without a fault
   */
  attempt(action: () => void): boolean {
    try {
      action()
      return true
    } catch (error) {
      if (!(error instanceof InvalidDatabaseError)) throw error
      this.add(error.fault, error.offset ?? null)
      return false
    }
  }
}

/** Height of a node that was not visited. */
const UNKNOWN = 255

/** Height of a node on the current path. More than any address has bits, so that a cycle counts as too deep. */
const ON_PATH = 254

/**
 * Walks a whole search tree: every path ends within the length of an address, every record lies in the data
 * section, and every node is reachable. A subtree with several paths to it is walked once.
 */
export class SearchTreeCheck {
  /** Offsets of the records that the tree leads to. */
  readonly records: OffsetSet
  recordCount = 0
  readonly #tree: SearchTree
  readonly #faults: FaultList
  /** By node, the bits of the longest path below it. */
  readonly #heights: Uint8Array
  readonly #bits: number
  #isTooDeep = false

  constructor(tree: SearchTree, data: DataSection, faults: FaultList) {
    const { metadata } = tree
    this.#tree = tree
    this.#faults = faults
    this.#heights = new Uint8Array(metadata.nodeCount).fill(UNKNOWN)
    this.#bits = metadata.ipVersion === 4 ? 32 : 128
    this.records = new OffsetSet(data.base, data.end)
  }

  run(): void {
    const { nodeCount } = this.#tree.metadata
    if (nodeCount === 0) return
    this.#walk()
    if (this.#isTooDeep) {
      this.#faults.add(`the search tree has paths of more than ${this.#bits} bits, the length of an address`)
      // Nodes further down were not visited.
      return
    }
    const unreached = this.#heights.reduce((count, height) => count + (height === UNKNOWN ? 1 : 0), 0)
    if (unreached > 0)
      this.#faults.add(`no path leads to ${unreached} of ${nodeCount} nodes of the search tree`)
  }

  /** Depth first, without recursion: a damaged tree can be as deep as it has nodes. */
  #walk(): void {
    const tree = this.#tree
    const { nodeCount } = tree.metadata
    const heights = this.#heights
    const path = [0]
    heights[0] = ON_PATH
    for (let node = path.at(-1); node !== undefined; node = path.at(-1)) {
      let height = 0
      let unvisited: number | undefined
      for (const bit of [0, 1]) {
        const value = tree.child(node, bit)
        if (value >= nodeCount) {
          height = Math.max(height, 1)
          continue
        }
        const known = heights[value] ?? UNKNOWN
        if (known === UNKNOWN) unvisited = value
        else height = Math.max(height, known + 1)
      }
      if (unvisited !== undefined && path.length < this.#bits) {
        heights[unvisited] = ON_PATH
        path.push(unvisited)
        continue
      }
      if (unvisited !== undefined || path.length - 1 + height > this.#bits) this.#isTooDeep = true
      heights[node] = Math.min(height, this.#bits)
      path.pop()
      this.#addRecords(node)
    }
  }

  #addRecords(node: number): void {
    const tree = this.#tree
    const { nodeCount } = tree.metadata
    for (const bit of [0, 1]) {
      const value = tree.child(node, bit)
      if (value < nodeCount) continue
      this.#faults.attempt(() => {
        const offset = tree.record(value)
        if (offset !== NO_RECORD && this.records.add(offset)) this.recordCount++
      })
    }
  }
}

/** A set of offsets within a section of a file: one bit for each byte of the section. */
export class OffsetSet {
  readonly #base: number
  readonly #bits: Uint8Array

  /**
   * @param base the lowest offset
   * @param end one more than the highest offset
   */
  constructor(base: number, end: number) {
    this.#base = base
    this.#bits = new Uint8Array(Math.ceil(Math.max(end - base, 0) / 8))
  }

  /** @returns whether the offset was not in the set before */
  add(offset: number): boolean {
    const at = offset - this.#base
    const mask = 1 << (at & 7)
    const byte = this.#bits[at >>> 3] ?? 0
    this.#bits[at >>> 3] = byte | mask
    return (byte & mask) === 0
  }

  has(offset: number): boolean {
    const at = offset - this.#base
    return ((this.#bits[at >>> 3] ?? 0) & (1 << (at & 7))) !== 0
  }

  /** In ascending order. */
  *[Symbol.iterator](): Generator<number> {
    for (const [index, byte] of this.#bits.entries()) {
      if (byte === 0) continue
      for (let bit = 0; bit < 8; bit++) if ((byte & (1 << bit)) !== 0) yield this.#base + index * 8 + bit
    }
  }
}

/** Uses of a value by records, on average. Real files have about 10; in a hostile file they are unlimited. */
const MAX_MEAN_USES = 32
/** Values that are read in any case. They take less than a second. */
const MIN_VALUE_BUDGET = 10_000_000

/**
 * Reads a data section from start to end, as strict verifiers do: values follow one another without a gap, all
 * text is UTF-8, and pointers and the search tree lead to the start of a value.
 */
export class DataSectionCheck {
  /** All values, including the keys and values inside maps and arrays. */
  valueCount = 0
  readonly #data: DataSection
  readonly #bytes: Uint8Array
  readonly #faults: FaultList
  /** Where values start. */
  readonly #starts: OffsetSet
  /** Where values start that are not inside another value. */
  readonly #outermost: OffsetSet
  readonly #pointerTargets: OffsetSet
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })

  /** @param bytes the whole file */
  constructor(data: DataSection, bytes: Uint8Array, faults: FaultList) {
    this.#data = data
    this.#bytes = bytes
    this.#faults = faults
    this.#starts = new OffsetSet(data.base, data.end)
    this.#outermost = new OffsetSet(data.base, data.end)
    this.#pointerTargets = new OffsetSet(data.base, data.end)
  }

  /** @param records offsets that the search tree leads to */
  run(records: OffsetSet): void {
    const isWhole = this.#faults.attempt(() => this.#readAll())
    this.#checkRecords(records)
    // After a fault it is not known where values start.
    if (!isWhole) return
    for (const offset of records) {
      if (!this.#starts.has(offset))
        this.#faults.add('the search tree leads into the middle of a value', offset)
    }
    for (const offset of this.#pointerTargets) {
      if (!this.#starts.has(offset)) this.#faults.add('a pointer leads into the middle of a value', offset)
    }
    for (const offset of this.#outermost) {
      if (records.has(offset) || this.#pointerTargets.has(offset)) continue
      this.#faults.add('neither the search tree nor a pointer leads to a value', offset)
    }
  }

  /** Checks each record with its pointers followed, as a reader sees it. */
  #checkRecords(records: OffsetSet): void {
    const budget = Math.max(MIN_VALUE_BUDGET, this.valueCount * MAX_MEAN_USES)
    let values = 0
    for (const offset of records) {
      const check = new RecordCheck(this.#data, offset)
      this.#faults.attempt(() => check.run())
      values += check.values
      if (values <= budget) continue
      this.#faults.add(`the records lead through pointers to more than ${budget} values`, offset)
      return
    }
  }

  #readAll(): void {
    const { base, end } = this.#data
    for (let at = base; at < end; ) {
      this.#outermost.add(at)
      at = this.#readValue(at)
    }
  }

  /** @returns where the next value starts */
  #readValue(offset: number): number {
    const data = this.#data
    let at = offset
    for (let pending = 1; pending > 0; pending--) {
      this.#starts.add(at)
      this.valueCount++
      data.open(at)
      if (data.viaPointer) this.#pointerTargets.add(data.fieldOffset)
      else if (data.type === DataType.map) pending += 2 * data.size
      else if (data.type === DataType.array) pending += data.size
      else if (data.type === DataType.utf8String) this.#checkText()
      at = data.next
    }
    return at
  }

  #checkText(): void {
    const { start, size, fieldOffset } = this.#data
    try {
      // A copy: platforms refuse to decode shared memory in place.
      this.#decoder.decode(this.#bytes.slice(start, start + size))
    } catch {
      this.#faults.add('a text is not UTF-8', fieldOffset)
    }
  }
}
