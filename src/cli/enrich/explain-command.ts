import { type Counts, failuresOf } from '../../enrich/counting/counts.ts'
import { UNMASKED } from '../../enrich/options.ts'
import { BlockReader } from '../../enrich/reading/block-reader.ts'
import type { DatabaseSet } from '../../location/database-set.ts'
import { openDatabases } from '../databases.ts'
import { countOf, countText } from '../figures.ts'
import { ExitStatus, printable, type Terminal, writeLine } from '../terminal.ts'
import { checkFit, type EnrichCommand, withInputName } from './command-line.ts'
import { Input } from './input.ts'
import { loadFormats, locatedStarts, planStart } from './located-sample.ts'

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
  const masks = others.length > 0 ? UNMASKED : {}
  // A table or an array is shown as the objects that it is made of, unless it is kept.
  const start = await new BlockReader(input, isLive, options.maxLineBytes).plan((sample, isWhole, isCut) =>
    planStart({ sample, isWhole, isCut }, command, { ...options, ...masks, writtenAt }),
  )
  const { plan } = start
  checkFit(options, plan.format, name)
  const located = [...locatedStarts(start, others, options, name, set)]
  const told = new Set(located.flatMap(({ notes }) => notes))
  const facts = located.map(({ counts }, index) => {
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
    ...[...told].filter((note) => !isFormat(note)).map((note) => `  ${note}`),
    ...facts,
    ...(located.at(-1)?.shown ?? []).map((line) => `  ${line}`),
  ]
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
