// The only importer of commander, which is bundled into the command line's output.
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { isGeofixError } from '../errors.ts'
import { databasePath } from './databases.ts'
import { runDetect } from './detect-command.ts'
import { ENRICH_HELP, ENRICH_OPTIONS, type EnrichFlags, enrichCommand } from './enrich/flags.ts'
import { runInfo } from './info-command.ts'
import { addKey, KEYS_OPTIONS, type KeysFlags, listKeys, revokeKey, rotateKey } from './keys/keys-command.ts'
import { runLookup } from './lookup-command.ts'
import {
  DETECT_OPTIONS,
  helpOf,
  INFO_OPTIONS,
  LOOKUP_OPTIONS,
  type OptionDefinition,
  PACK_OPTIONS,
} from './options.ts'
import { SERVE_HELP, SERVE_OPTIONS, type ServeFlags, serveSettings } from './serve/flags.ts'
import { CommandFailure, ExitStatus, printable, type Terminal, UsageError, writeMessage } from './terminal.ts'
import { runVerify } from './verify-command.ts'

const EXAMPLES = `
Examples:
  geofix 81.2.69.142 2001:4860:4860::8888
  geofix --locale de --pretty 81.2.69.142
  cut -d' ' -f1 access.log | geofix > places.ndjson
  geofix --db GeoLite2-City.mmdb 81.2.69.142
  geofix enrich access.log -o places.ndjson
  geofix info --db GeoLite2-City.tar.gz
  geofix verify GeoLite2-City.mmdb
  geofix serve --open --port 8080
  geofix pack GeoLite2-City.mmdb -o GeoLite2-City.mmdb.packed
  geofix detect --peer 10.0.0.1 --trust uniquelocal --header 'X-Forwarded-For: 1.1.1.1, 81.2.69.142'

Exit status: 0 all addresses resolved; 1 some failed (one line each on standard error); 2 wrong usage. geofix enrich
has more, see geofix enrich --help.`

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
    // commander has already printed the error. For --help and --version, the exit code is 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitStatus.ok : ExitStatus.usage
    if (!isGeofixError(error) && !(error instanceof CommandFailure)) throw error
    await writeMessage(terminal.stderr, error.message)
    return error instanceof CommandFailure ? error.status : ExitStatus.failed
  }
}

function makeProgram(terminal: Terminal, ends: (status: ExitStatus) => void): Command {
  const program = new Command('geofix')
    .description('Print the location of IP addresses from a local database, without network calls.')
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
      self.error(`error: write options after "${subcommand.name()}": see geofix ${subcommand.name()} --help`)
    })
    .addHelpText('after', EXAMPLES)

  addOptions(program, LOOKUP_OPTIONS)
    .argument('[address...]', 'IPv4 or IPv6 addresses (default: one a line from standard input)')
    .action(async (addresses: string[], options: LookupFlags) => {
      if (addresses.length === 0 && terminal.stdin.isTTY) {
        program.outputHelp({ error: true })
        return ends(ExitStatus.usage)
      }
      const { db = [], locale, at, pretty = false } = options
      ends(await runLookup({ addresses, databases: db, locale, at, pretty }, terminal))
    })

  addOptions(program.command('info'), INFO_OPTIONS)
    .description('describe a database: type, age, networks, languages, licence, fields')
    .action(async (options: InfoFlags) => {
      const { db = [], json = false } = options
      ends(await runInfo({ databases: db, json }, terminal))
    })

  program
    .command('verify')
    .description('check whole database files: search tree, pointers, records, text, metadata')
    .argument('<file...>', '.mmdb, .gz or .tar.gz', (text: string, previous: unknown) =>
      collect(databasePath, text, previous),
    )
    .action(async (files: string[]) => ends(await runVerify(files, terminal)))

  for (const [action, description] of [
    ['pack', 'pack a database: half the size of gzip, and read without unpacking'],
    ['unpack', 'unpack a packed database to an .mmdb file'],
  ] as const) {
    addOptions(program.command(action), PACK_OPTIONS)
      .description(description)
      .argument('<file>', action === 'pack' ? '.mmdb, .gz or .tar.gz' : 'a packed database', (text: string) =>
        String(asArgument(databasePath, text)),
      )
      .action(async (input: string, { output }: PackFlags) => {
        // Lazy, so that the other commands start faster.
        const { runPack } = await import('./pack-command.ts')
        ends(await runPack({ action, input, output }, terminal))
      })
  }

  addOptions(program.command('detect'), DETECT_OPTIONS)
    .description('explain, hop by hop, which address a request comes from')
    .action(async (options: DetectFlags, command: Command) => {
      const { peer, header = [], trust, forwardedHeader } = options
      try {
        ends(await runDetect({ peer, headers: header, trustedProxies: trust, forwardedHeader }, terminal))
      } catch (error) {
        // An invalid configuration, such as --trust all.
        if (error instanceof TypeError) command.error(`error: ${error.message}`)
        throw error
      }
    })

  addEnrich(program, terminal, ends)
  addServe(program, terminal, ends)
  addKeys(program, terminal, ends)
  return program
}

function addOptions(command: Command, definitions: readonly OptionDefinition[]): Command {
  for (const definition of definitions) {
    const option = command.createOption(definition.flags, helpOf(definition))
    const { read = (text: string) => text, isRepeatable = false, isRequired = false } = definition
    option.makeOptionMandatory(isRequired)
    if (option.required) {
      option.argParser((text, previous: unknown) => {
        if (isRepeatable) return collect(read, text, previous)
        // commander itself would let the last value win.
        if (previous !== undefined) throw new InvalidArgumentError('This option can be given only once.')
        return asArgument(read, text)
      })
    }
    command.addOption(option)
  }
  return command
}

function collect(read: (text: string) => unknown, text: string, previous: unknown): unknown[] {
  return [...(Array.isArray(previous) ? previous : []), asArgument(read, text)]
}

function addEnrich(program: Command, terminal: Terminal, ends: (status: ExitStatus) => void): void {
  const enrich = addOptions(program.command('enrich'), ENRICH_OPTIONS)
    .description('add the location to each line of logs and tables')
    .argument('[file...]', 'files (default: standard input)')
    .addHelpText('after', ENRICH_HELP)
  enrich.action(async (files: string[], flags: EnrichFlags) => {
    if (files.length === 0 && terminal.stdin.isTTY) {
      enrich.outputHelp({ error: true })
      return ends(ExitStatus.usage)
    }
    try {
      if (flags.rows === true) {
        const { rowsCommand, runRows } = await import('./enrich/rows-command.ts')
        return ends(await runRows(rowsCommand(files, flags), terminal))
      }
      const command = enrichCommand(files, flags)
      // Lazy, so that the other commands start faster.
      const { runEnrich } = await import('./enrich/enrich-command.ts')
      ends(await runEnrich(command, terminal))
    } catch (error) {
      if (error instanceof UsageError) enrich.error(`error: ${error.message}`)
      throw error
    }
  })
}

function addServe(program: Command, terminal: Terminal, ends: (status: ExitStatus) => void): void {
  const serve = addOptions(program.command('serve'), SERVE_OPTIONS)
    .description('serve locations over HTTP')
    .addHelpText('after', SERVE_HELP)
  serve.action(async (flags: ServeFlags) => {
    try {
      const settings = serveSettings(flags)
      // Lazy, so that no other command loads the modules of the network.
      const { runServe } = await import('./serve/serve-command.ts')
      ends(await runServe(settings, terminal))
    } catch (error) {
      if (error instanceof UsageError) serve.error(`error: ${error.message}`)
      throw error
    }
  })
}

function addKeys(program: Command, terminal: Terminal, ends: (status: ExitStatus) => void): void {
  const keys = program.command('keys').description('manage the API keys of geofix serve').helpCommand(false)
  addOptions(keys.command('add'), KEYS_OPTIONS.add)
    .description('add a key and print it, once')
    .action(async (flags: KeysFlags) => ends(await addKey(flags, terminal)))
  addOptions(keys.command('list'), KEYS_OPTIONS.list)
    .description('print the id, plan, times and label of each key')
    .action(async (flags: KeysFlags) => ends(await listKeys(flags, terminal)))
  addOptions(keys.command('revoke'), KEYS_OPTIONS.revoke)
    .description('remove a key')
    .argument('<id>', 'as geofix keys list prints it')
    .action(async (id: string, flags: KeysFlags) => ends(await revokeKey(id, flags)))
  addOptions(keys.command('rotate'), KEYS_OPTIONS.rotate)
    .description('print a new key like another, which stays valid until you revoke it')
    .argument('<id>', 'as geofix keys list prints it')
    .action(async (id: string, flags: KeysFlags) => ends(await rotateKey(id, flags, terminal)))
}

/** Reads the value of an option. commander prints an InvalidArgumentError with the option's name. */
function asArgument(read: (text: string) => unknown, text: string): unknown {
  try {
    return read(text)
  } catch (error) {
    if (error instanceof UsageError) throw new InvalidArgumentError(error.message)
    throw error
  }
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

interface PackFlags {
  readonly output: string
}

interface DetectFlags {
  readonly peer: string
  readonly header?: (readonly [name: string, value: string])[]
  readonly trust?: string[]
  readonly forwardedHeader?: string
}

/** commander's message, made printable: it can quote a file name. A suggestion stays on its own line. */
function printableError(text: string): string {
  const lines = text.trimEnd().split(/\n(?=\(Did you mean [^\n]*\)$)/)
  return lines.map((line) => printable(line.replace(/^error: /, 'geofix: '))).join('\n')
}
