// The only importer of commander, which is bundled into the command line's output.
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { isGeofixError } from '../errors.ts'
import { localeOf } from '../record/locale.ts'
import { runInfo } from './info-command.ts'
import { runLookup } from './lookup-command.ts'
import { ExitStatus, type Terminal, writeLine } from './terminal.ts'

/** An instant is told from a local time by its offset; a date alone is its start in UTC. */
const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/

const EXAMPLES = `
Examples:
  geofix 81.2.69.142 2001:4860:4860::8888
  geofix --locale de --pretty 81.2.69.142
  cut -d' ' -f1 access.log | geofix > places.ndjson
  geofix --db GeoLite2-City.mmdb 81.2.69.142
  geofix info --db GeoLite2-City.tar.gz

Exit status: 0 all resolved, 1 some failed (each a line on standard error), 2 wrong usage.`

/**
 * Runs the command line.
 *
 * @param args without the program's name
 * @returns the exit status: 0, or 1 when something failed, or 2 for wrong usage
 */
export async function run(args: readonly string[], terminal: Terminal): Promise<ExitStatus> {
  let status: ExitStatus = ExitStatus.ok
  const program = makeProgram(terminal, (ended) => {
    status = ended
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return status
  } catch (error) {
    // commander has already said what is wrong; help and version end with 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitStatus.ok : ExitStatus.usage
    if (!isGeofixError(error)) throw error
    await writeLine(terminal.stderr, `geofix: ${error.message}`)
    return ExitStatus.failed
  }
}

function makeProgram(terminal: Terminal, ends: (status: ExitStatus) => void): Command {
  const program = new Command('geofix')
    .description('Where is this IP address? Answered from a local database, without any network call.')
    .version(packageJson.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => void terminal.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'geofix: ')),
    })
    .showHelpAfterError('(geofix --help shows what can be said)')
    .enablePositionalOptions()
    .helpCommand(false)
    .addHelpText('after', EXAMPLES)

  program
    .argument('[address...]', 'IPv4 or IPv6 addresses; default: one a line from standard input')
    .option('--db <file>', 'database, .mmdb, .gz or .tar.gz; may be given several times', collect)
    .option('--locale <tag>', 'language for names of countries and regions', readLocale)
    .option('--at <time>', 'instant for the time-zone offset, such as 2026-07-01T12:00:00Z', readInstant)
    .option('--pretty', 'indent the JSON')
    .action(async (addresses: string[], options: LookupFlags) => {
      if (addresses.length === 0 && terminal.stdin.isTTY) {
        program.outputHelp({ error: true })
        return ends(ExitStatus.usage)
      }
      const { db = [], locale, at, pretty = false } = options
      ends(await runLookup({ addresses, databases: db, locale, at, pretty }, terminal))
    })

  program
    .command('info')
    .description('print what a database is: type, age, networks, locales, licence, fields')
    .option('--db <file>', 'database, .mmdb, .gz or .tar.gz; may be given several times', collect)
    .option('--json', 'one JSON object a line')
    .action(async (options: InfoFlags) => {
      const { db = [], json = false } = options
      ends(await runInfo({ databases: db, json }, terminal))
    })

  return program
}

interface LookupFlags {
  readonly db?: string[]
  readonly locale?: string
  readonly at?: Date
  readonly pretty?: boolean
}

interface InfoFlags {
  readonly db?: string[]
  readonly json?: boolean
}

function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value]
}

function readLocale(text: string): string {
  try {
    return localeOf(text).tag
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
  }
}

function readInstant(text: string): Date {
  const instant = new Date(text)
  if (INSTANT.test(text) && !Number.isNaN(instant.getTime())) return instant
  throw new InvalidArgumentError('Write it as 2026-07-01 or 2026-07-01T12:00:00Z, with Z or an offset.')
}
