// The only importer of commander, which is bundled into the command line's output.
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { isGeofixError } from '../errors.ts'
import { localeOf } from '../location/locale.ts'
import { databasePath } from './database-path.ts'
import { runDetect } from './detect-command.ts'
import { ENRICH_EXAMPLES, ENRICH_FLAGS, type EnrichFlags, enrichCommand } from './enrich/flags.ts'
import { runInfo } from './info-command.ts'
import { runLookup } from './lookup-command.ts'
import { CommandFailure, ExitStatus, printable, type Terminal, UsageError, writeMessage } from './terminal.ts'
import { runVerify } from './verify-command.ts'

/** An instant is told from a local time by its offset; a date alone is its start in UTC. */
const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/

const EXAMPLES = `
Examples:
  geofix 81.2.69.142 2001:4860:4860::8888
  geofix --locale de --pretty 81.2.69.142
  cut -d' ' -f1 access.log | geofix > places.ndjson
  geofix --db GeoLite2-City.mmdb 81.2.69.142
  geofix enrich access.log -o places.ndjson
  geofix info --db GeoLite2-City.tar.gz
  geofix verify GeoLite2-City.mmdb
  geofix detect --peer 10.0.0.1 --trust uniquelocal --header 'X-Forwarded-For: 1.1.1.1, 81.2.69.142'

Exit status: 0 all resolved, 1 some failed (each a line on standard error), 2 wrong usage; geofix enrich has more.`

/**
 * Runs the command line.
 *
 * @param args without the program's name
 * @returns the exit status: 0, or 1 when something failed, or 2 for wrong usage; see `ExitStatus`
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
    if (!isGeofixError(error) && !(error instanceof CommandFailure)) throw error
    await writeMessage(terminal.stderr, error.message)
    return error instanceof CommandFailure ? error.status : ExitStatus.failed
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
      outputError: (text, write) => write(`${printableError(text)}\n`),
    })
    .showHelpAfterError('(see geofix --help)')
    .enablePositionalOptions()
    .helpCommand(false)
    .hook('preSubcommand', (self, subcommand) => {
      if (Object.keys(self.opts()).length === 0) return
      self.error(`error: write options behind "${subcommand.name()}": geofix ${subcommand.name()} --help`)
    })
    .addHelpText('after', EXAMPLES)

  program
    .argument('[address...]', 'IPv4 or IPv6 addresses; default: one a line from standard input')
    .option('--db <file>', 'database, .mmdb, .gz or .tar.gz; may be given several times', collectDatabase)
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
    .option('--db <file>', 'database, .mmdb, .gz or .tar.gz; may be given several times', collectDatabase)
    .option('--json', 'one JSON object a line')
    .action(async (options: InfoFlags) => {
      const { db = [], json = false } = options
      ends(await runInfo({ databases: db, json }, terminal))
    })

  program
    .command('verify')
    .description('check whole database files: search tree, pointers, records, text, metadata')
    .argument('<file...>', '.mmdb, .gz or .tar.gz', collectDatabase)
    .action(async (files: string[]) => ends(await runVerify(files, terminal)))

  program
    .command('detect')
    .description('explain, hop by hop, whose address a request is taken to be from')
    .requiredOption('--peer <address>', "the socket's peer, or unix:")
    .option('--header <line>', "a field, as 'Name: value'; may be given several times", collectHeader)
    .option('--trust <list>', 'trusted proxies, with commas between: addresses, networks, names', readList)
    .option('--forwarded-header <name>', 'the field that they write (default: x-forwarded-for)')
    .action(async (options: DetectFlags, command: Command) => {
      const { peer, header = [], trust, forwardedHeader } = options
      try {
        ends(await runDetect({ peer, headers: header, trustedProxies: trust, forwardedHeader }, terminal))
      } catch (error) {
        // A wrong configuration, as it would be at opening.
        if (error instanceof TypeError) command.error(`error: ${error.message}`)
        throw error
      }
    })

  addEnrich(program, terminal, ends)
  for (const command of [program, ...program.commands]) takeOneValue(command)
  return program
}

/** Refuses a second value of the options that do not collect them; commander would let the last one win. */
function takeOneValue(command: Command): void {
  for (const option of command.options) {
    const { parseArg } = option
    if (!option.required || parseArg === collectDatabase || parseArg === collectHeader) continue
    option.argParser((text, previous) => {
      if (previous !== undefined) {
        throw new InvalidArgumentError('The option takes one value, and has one already: write it once.')
      }
      return parseArg === undefined ? text : parseArg(text, previous)
    })
  }
}

function addEnrich(program: Command, terminal: Terminal, ends: (status: ExitStatus) => void): void {
  const enrich = program
    .command('enrich')
    .description('write the lines of logs and tables with the location beside each')
    .argument('[file...]', 'files; default: standard input')
    .option('--db <file>', 'database, .mmdb, .gz or .tar.gz; may be given several times', collectDatabase)
    .option('--locale <tag>', 'language for names of countries and regions', readLocale)
    .option(
      '--at <time>',
      'instant for the time-zone offset of lines without a time (default: none, and no offset)',
      readInstant,
    )
    .option(
      '--trust <list>',
      'the field is an X-Forwarded-For list; these proxies wrote it, as in detect',
      readList,
    )
    .addHelpText('after', ENRICH_EXAMPLES)
  for (const { flags, description, read } of ENRICH_FLAGS) {
    if (read === undefined) enrich.option(flags, description)
    else enrich.option(flags, description, (text: string) => asArgument(read, text))
  }
  enrich.action(async (files: string[], flags: EnrichFlags) => {
    if (files.length === 0 && terminal.stdin.isTTY) {
      enrich.outputHelp({ error: true })
      return ends(ExitStatus.usage)
    }
    try {
      const command = enrichCommand(files, flags)
      // Only who enriches waits for its code.
      const { runEnrich } = await import('./enrich/enrich-command.ts')
      ends(await runEnrich(command, terminal))
    } catch (error) {
      if (error instanceof UsageError) enrich.error(`error: ${error.message}`)
      throw error
    }
  })
}

/** Reads the value of an option, with the errors that commander words. */
function asArgument(read: (text: string) => unknown, text: string): unknown {
  try {
    return read(text)
  } catch (error) {
    if (error instanceof UsageError) throw new InvalidArgumentError(error.message)
    throw error
  }
}

/** Some engines read 31 February as 3 March. */
function isDayOfMonth(text: string): boolean {
  const day = text.slice(0, 10)
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)
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

interface DetectFlags {
  readonly peer: string
  readonly header?: (readonly [name: string, value: string])[]
  readonly trust?: string[]
  readonly forwardedHeader?: string
}

function collectHeader(
  line: string,
  previous: NonNullable<DetectFlags['header']> = [],
): NonNullable<DetectFlags['header']> {
  const colon = line.indexOf(':')
  if (colon < 1) throw new InvalidArgumentError("Write it as 'X-Forwarded-For: 81.2.69.142'.")
  return [...previous, [line.slice(0, colon), line.slice(colon + 1).trim()]]
}

function readList(text: string): string[] {
  return text.split(',')
}

function collectDatabase(text: string, previous: string[] = []): string[] {
  return [...previous, String(asArgument(databasePath, text))]
}

function readLocale(text: string): string {
  try {
    localeOf(text)
    return text
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
  }
}

function readInstant(text: string): Date {
  const instant = new Date(text)
  if (INSTANT.test(text) && !Number.isNaN(instant.getTime()) && isDayOfMonth(text)) return instant
  throw new InvalidArgumentError('Write it as 2026-07-01 or 2026-07-01T12:00:00Z, with Z or an offset.')
}

/** What commander says of wrong usage: an option can be the name of a file. Its suggestion has a line of its own. */
function printableError(text: string): string {
  const lines = text.trimEnd().split(/\n(?=\(Did you mean [^\n]*\)$)/)
  return lines.map((line) => printable(line.replace(/^error: /, 'geofix: '))).join('\n')
}
