import { ByteSink } from '../../bytes/byte-sink.ts'
import { checkAddresses } from '../../enrich/address-check.ts'
import { BlockEnricher } from '../../enrich/block-enricher.ts'
import { type Counts, emptyCounts, failuresOf, mergeCounts } from '../../enrich/counting/counts.ts'
import { layoutOf, makePlan, type Plan } from '../../enrich/formats/formats.ts'
import { type Planned, UNMASKED } from '../../enrich/options.ts'
import { BlockReader } from '../../enrich/reading/block-reader.ts'
import { Splitter } from '../../enrich/reading/splitter.ts'
import type { DatabaseSet } from '../../location/database-set.ts'
import { NodeResolver } from '../../node/node-resolver.ts'
import { BORROW } from '../../resolver.ts'
import { checkLocations } from '../databases.ts'
import { countOf } from '../figures.ts'
import { ExitStatus, printable, type Terminal, writeLine } from '../terminal.ts'
import { asUsage, inWords } from './command-errors.ts'
import { checkFit, type EnrichCommand } from './command-line.ts'
import { Input } from './input.ts'
import { nextFormat } from './next-run.ts'
import type { ParquetFile } from './parquet/parquet-file.ts'

/** Located lines that are shown, and how much of each. */
const LINES_SHOWN = 3
const MAX_LINE_CHARS = 2000

/**
 * Prints how each input would be read, and its first located lines, and stops: `geofix enrich --explain`. Only the start
 * of an input is read.
 *
 * @throws what `runEnrich` throws for the start of these inputs
 */
export async function runExplain(command: EnrichCommand, terminal: Terminal): Promise<ExitStatus> {
  const { inputs, databases, asn } = command
  const resolver = await NodeResolver.open(databases.length === 0 ? undefined : databases, { asn })
  const set = resolver[BORROW]()
  checkLocations(set)
  for (const path of inputs) {
    const input = await Input.find(path, terminal)
    // Also of a file with columns that lines cannot have.
    input.readRows = sampleOf
    try {
      for (const line of await explained(input, command, set))
        await writeLine(terminal.stdout, line.split('\t').map(printable).join('\t'))
    } catch (error) {
      throw inWords(error, input.name)
    } finally {
      input.close()
    }
  }
  return ExitStatus.ok
}

/** The first rows of a Parquet file. */
async function* sampleOf(file: ParquetFile): AsyncGenerator<Uint8Array> {
  yield await file.sampleLines()
}

async function explained(input: Input, command: EnrichCommand, set: DatabaseSet): Promise<string[]> {
  const { options, to, table, isArray, others } = command
  const { name, isLive, writtenAt } = input
  // The next run needs the addresses.
  const masksOf = (isLast: boolean) => (isLast ? {} : UNMASKED)
  const reader = new BlockReader(input, isLive, options.maxLineBytes)
  const start = await reader.plan((bytes, isAll, isCut) => ({
    ...asUsage(() => {
      const given = { ...options, to, writtenAt, ...masksOf(others.length === 0) }
      const planned = makePlan(bytes, isAll, given, isCut)
      // A table of the form that is asked for is kept, and so is a document. Objects are shown in place of others.
      return planned.plan.format === table || (isArray && planned.plan.format === 'json')
        ? makePlan(bytes, isAll, { ...given, to: undefined }, isCut)
        : planned
    }),
    sample: bytes,
    isWhole: isAll,
  }))
  const { plan, notes, isWhole } = start
  checkFit(options, plan.format, name)
  const format = others.length > 0 ? nextFormat(plan, name) : plan.format
  let located = locate(start, set)
  const facts = [`  the first ${countOf(located.counts.lines, 'line', 'lines')}: ${factsOf(located.counts)}`]
  const told = [...notes]
  for (const [index, { field, into }] of others.entries()) {
    const sample = located.output
    const own = { field, into, format, to: undefined, ...masksOf(index === others.length - 1) }
    const next = asUsage(() => makePlan(sample, isWhole, { ...options, ...own }, false))
    located = locate({ ...next, sample, isWhole }, set)
    told.push(...next.notes.filter((note) => !told.includes(note)))
    facts.push(`  ${into}: ${factsOf(located.counts)}`)
  }
  const isFormat = (note: string): boolean => note === `the format is ${plan.format}`
  return [
    `${name}: the format is ${plan.format}`,
    ...told.filter((note) => !isFormat(note)).map((note) => `  ${note}`),
    ...facts,
    ...located.shown.map((line) => `  ${line}`),
  ]
}

/** The start of an input, and how it is read. */
interface Start extends Planned<Plan> {
  readonly sample: Uint8Array
  readonly isWhole: boolean
}

/** Locates an address in each line of a sample. */
function locate({ plan, sample, isWhole }: Start, set: DatabaseSet) {
  const enricher = new BlockEnricher(plan, set)
  checkAddresses(enricher, plan, sample, isWhole)
  // One record a block, so that each has its own output.
  const splitter = new Splitter(layoutOf(plan), 1)
  const counts = emptyCounts()
  const all = new ByteSink()
  const headers: string[] = []
  const lines: string[] = []
  const decoder = new TextDecoder()
  for (const block of [...splitter.push(sample), ...(isWhole ? splitter.end() : splitter.flush())]) {
    for (const { output, counts: own } of enricher.pieces(block)) {
      mergeCounts(counts, own)
      all.write(output)
      // Directives that get no fields are not shown.
      const isHeader = own.lines === 0 && output.length > block.bytes.length
      const to = own.resolved > 0 ? lines : isHeader ? headers : null
      if (to !== null && to.length < LINES_SHOWN)
        to.push(decoder.decode(output).trim().slice(0, MAX_LINE_CHARS))
    }
  }
  return { counts, output: all.take(), shown: [...headers, ...lines] }
}

function factsOf(counts: Counts): string {
  const failures = failuresOf(counts)
  const read = counts.resolved + failures.reduce((sum, [, count]) => sum + count, 0)
  return [
    `${counts.resolved} with a location`,
    `${read - counts.withoutTime} with a time`,
    ...failures.map(([reason, count]) => `${count} ${reason}`),
    ...(counts.bad > 0 ? [`${counts.bad} that cannot be read`] : []),
  ].join(', ')
}
