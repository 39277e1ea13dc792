import { checkAddresses } from '../../enrich/address-check.ts'
import { BlockEnricher } from '../../enrich/block-enricher.ts'
import { type Counts, emptyCounts, failuresOf, mergeCounts } from '../../enrich/counting/counts.ts'
import { layoutOf, type Plan } from '../../enrich/formats/formats.ts'
import { BlockReader } from '../../enrich/reading/block-reader.ts'
import type { Sample } from '../../enrich/reading/sample.ts'
import { sampleBlocks } from '../../enrich/reading/splitter.ts'
import type { DatabaseSet } from '../../location/database-set.ts'
import { openDatabases } from '../databases.ts'
import { countOf, countText } from '../figures.ts'
import { ExitStatus, printable, type Terminal, writeLine } from '../terminal.ts'
import { checkFit, type EnrichCommand, loadFormats, planStart, withInputName } from './command-line.ts'
import { Input } from './input.ts'

/** Lines of each kind that are shown. */
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
  await loadFormats()
  const set = await openDatabases(databases, asn)
  for (const path of inputs) {
    const input = await Input.find(path, terminal)
    // A sample is enough, and can be made of a file that has columns which JSON has no values for.
    input.readRows = async function* (file) {
      yield await file.sampleLines()
    }
    try {
      for (const line of await explained(input, command, set))
        await writeLine(terminal.stdout, line.split('\t').map(printable).join('\t'))
    } catch (error) {
      throw withInputName(error, input.name)
    } finally {
      input.close()
    }
  }
  return ExitStatus.ok
}

async function explained(input: Input, command: EnrichCommand, set: DatabaseSet): Promise<string[]> {
  const { options, others } = command
  const { name, isLive, writtenAt } = input
  // A table or an array is shown as the objects that it is made of, unless it is kept.
  const { sample, plan, notes } = await new BlockReader(input, isLive, options.maxLineBytes).plan(
    (sample) => ({
      sample,
      ...planStart(sample, command, { ...options, writtenAt }),
    }),
  )
  checkFit(options, plan.format, name)
  const { counts: first, shown } = locatedSample(plan, sample, set)
  const facts = [first, ...(first.others ?? [])].map((counts, index) => {
    const other = others[index - 1]
    const what =
      other === undefined
        ? `the first ${counts.lines === 1 ? 'line' : countOf(counts.lines, 'line', 'lines')}`
        : other.into
    return `  ${what}: ${factsOf(counts)}`
  })
  const isFormat = (note: string): boolean => note === `the format is ${plan.format}`
  return [
    `${name}: the format is ${plan.format}`,
    ...[...new Set(notes)].filter((note) => !isFormat(note)).map((note) => `  ${note}`),
    ...facts,
    ...shown.map((line) => `  ${line}`),
  ]
}

/** The counts of the start of an input, and its first headers and located lines. @throws EnrichError when a field has no addresses */
function locatedSample(plan: Plan, sample: Sample, set: DatabaseSet) {
  const enricher = new BlockEnricher(plan, set)
  checkAddresses(enricher, sample)
  const counts = emptyCounts()
  const headers: string[] = []
  const lines: string[] = []
  const decoder = new TextDecoder()
  const layout = layoutOf(plan)
  for (const block of sampleBlocks(sample, layout)) {
    for (const { output, counts: own } of enricher.pieces(block)) {
      mergeCounts(counts, own)
      // Directives that get no fields are not shown.
      const isHeader = own.lines === 0 && output.length > block.bytes.length
      const isLocated = [own, ...(own.others ?? [])].some(({ resolved }) => resolved > 0)
      const to = isLocated ? lines : isHeader ? headers : null
      if (to === null) continue
      const text = decoder.decode(output).trim()
      // A piece can have several short records.
      const written = layout.recordEnds === null ? text.split(/\r?\n/) : [text]
      to.push(...written.slice(0, LINES_SHOWN - to.length).map((line) => line.slice(0, MAX_LINE_CHARS)))
    }
  }
  return { counts, shown: [...headers, ...lines] }
}

function factsOf(counts: Counts): string {
  const failures = failuresOf(counts)
  const read = counts.resolved + failures.reduce((sum, [, count]) => sum + count, 0)
  return [
    `${countText(counts.resolved)} with a location`,
    `${countText(read - counts.withoutTime)} with a time`,
    ...failures.map(([reason, count]) => `${countText(count)} ${reason}`),
    ...(counts.bad > 0 ? [`${countText(counts.bad)} that cannot be read`] : []),
  ].join(', ')
}
