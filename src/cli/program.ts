// commander is bundled into the command line's output.
import { Command, CommanderError } from 'commander'
import { version } from '../../package.json'
import { allOptions, checkTogether, type OptionGroups } from '../option-kinds.ts'
import { addOptions, collect, type HelpTexts, textAfter } from './flags.ts'
import {
  DETECT_OPTIONS,
  databasePath,
  ENGINE_OPTIONS,
  type FlagsOf,
  INFO_OPTIONS,
  inFlags,
  LOOKUP_OPTIONS,
  OVERLAY_OPTIONS,
  PACK_OPTIONS,
  SLIM_OPTIONS,
} from './options.ts'
import { insteadOfAddress, insteadOfOption } from './suggestions.ts'
import { ExitStatus, printable, statusOf, type Terminal, UsageError, writeLine } from './terminal.ts'

const HELP: HelpTexts = {
  mostUsed: [],
  about: `Addresses of the command line are printed as cards on a terminal, and as one JSON record a line in a pipe, in a file, and
with --json. Addresses of standard input are always printed as JSON.`,
  examples: [
    'geofix 81.2.69.142 2001:4860:4860::8888',
    'geofix --asn --json 81.2.69.142',
    "cut -d' ' -f1 access.log | geofix > places.ndjson",
    'geofix enrich access.log -o places.ndjson',
    'geofix count --by city --top 20 access.log',
    'geofix serve --open --port 8080',
    'geofix --db GeoLite2-City.mmdb 81.2.69.142',
    'geofix --locale de --pretty 81.2.69.142',
    'geofix info --db GeoLite2-City.tar.gz',
    'geofix verify GeoLite2-City.mmdb',
    'geofix pack GeoLite2-City.mmdb -o GeoLite2-City.mmdb.packed',
    'geofix slim GeoLite2-City.mmdb --fields country --ipv4-only -o countries.mmdb',
    'geofix export --as integers -o networks.parquet',
    'geofix overlay GeoLite2-City.mmdb --csv networks.csv -o city-and-offices.mmdb',
    "geofix detect --peer 10.0.0.1 --trust uniquelocal --header 'X-Forwarded-For: 1.1.1.1, 81.2.69.142'",
  ],
  statuses: `Exit status: 0 all addresses resolved; 1 some failed (one line each on standard error); 2 wrong usage; 3 the
output cannot be written; 4 a database cannot be read. geofix enrich has more, see geofix enrich --help.`,
}

/**
 * Runs the command line.
 *
 * @param args without the program's name
 * @returns the exit status: 0, or 1 when something failed, 2 for wrong usage, 4 when a file cannot be read; see `ExitStatus`
 */
export async function run(args: readonly string[], terminal: Terminal): Promise<ExitStatus> {
  let status: ExitStatus = ExitStatus.ok
  const program = makeProgram(terminal, args, (ended) => {
    status = ended
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return status
  } catch (error) {
    // commander has already printed the error. For --help and --version, the exit code is 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitStatus.ok : ExitStatus.usage
    return statusOf(error, terminal)
  }
}

/** The words that run a command, such as `geofix keys add`. */
function commandLine(command: Command): string {
  return command.parent === null ? command.name() : `${commandLine(command.parent)} ${command.name()}`
}

function makeProgram(
  terminal: Terminal,
  given: readonly string[],
  ends: (status: ExitStatus) => void,
): Command {
  /** Whether the help, if it is printed, has all that is known about each option. `-h` has at most two lines of it. */
  const isWhole = given[0] === 'help' || given.includes('--help')
  const commandNames = (): string[] => program.commands.map((command) => command.name())
  /** A message of commander, with what to write instead of an option that does not exist. */
  const advised = (text: string): string => {
    const [, flag] = /^error: unknown option '([^'\n]*)'/.exec(text) ?? []
    const [word = ''] = given
    const takesDatabase = program.commands.some(
      (command) => command.name() === word && command.options.some(({ long }) => long === '--db'),
    )
    if (text.startsWith('error: too many arguments') && takesDatabase)
      return `error: ${word} takes no file: name the database with --db FILE`
    if (flag === undefined) return text
    const isCommand = commandNames().includes(word)
    const meant = isCommand || word.startsWith('-') ? undefined : insteadOfAddress(word, commandNames())
    if (meant !== undefined) return `error: ${meant}`
    const instead = insteadOfOption(isCommand ? word : '', flag)
    return instead === undefined ? text : `error: unknown option '${flag}': use ${instead}`
  }
  const program = new Command('geofix')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => void terminal.stderr.write(text),
      outputError: (text, write) => write(`${printableError(advised(text))}\n`),
    })
    // Commands are listed without their options, which are not loaded then.
    .configureHelp({
      subcommandTerm: (command) => `${command.name()} ${command.usage().replace('[options] ', '')}`,
    })
    .addHelpText('after', textAfter(HELP, 'geofix', isWhole))
    .enablePositionalOptions()
    .helpCommand(false)
    .hook('preSubcommand', (self, subcommand) => {
      if (Object.keys(self.opts()).length === 0) return
      self.error(`error: write options after "${subcommand.name()}": see ${commandLine(subcommand)} --help`)
    })

  /** Defines a command. It prints its help if it would read addresses or lines from a terminal. */
  const define = <const Options extends OptionGroups>(
    command: Command,
    { description, argument, options, help, readsInput = false, run }: CommandDefinition<Options>,
  ): void => {
    command
      .description(description)
      .helpOption('-h, --help', 'print help: -h in short, --help in full')
      .showHelpAfterError(`(see ${commandLine(command)} --help)`)
    let groups: OptionGroups = {}
    const use = (loaded: Options, text?: HelpTexts): void => {
      groups = loaded
      addOptions(command, groups, isWhole, text)
      if (text !== undefined) command.addHelpText('after', textAfter(text, commandLine(command), isWhole))
    }
    if (typeof options !== 'function' && command === program) use(options)
    command.parent?.hook('preSubcommand', async (_, chosen) => {
      if (chosen === command) use(typeof options === 'function' ? await options() : options, await help?.())
    })
    if (argument !== undefined) {
      const [name, text, read = (each: string) => each] = argument
      command.argument(name, text, (each, previous: unknown) => collect(read, each, previous))
    }
    command.action(async () => {
      const args: string[] = command.processedArgs.flat()
      if (readsInput && args.length === 0 && terminal.stdin.isTTY) {
        command.outputHelp({ error: true })
        return ends(ExitStatus.usage)
      }
      try {
        for (const name of Object.keys(command.opts())) {
          // commander gives `true` for `--no-header` if it is missing.
          if (command.getOptionValueSource(name) === 'default') command.setOptionValue(name, undefined)
        }
        const flags = command.opts<FlagsOf<Options>>()
        inFlags(() => checkTogether(flags, allOptions(groups)), groups, '.')
        ends(await run(flags, args))
      } catch (error) {
        if (error instanceof UsageError) command.error(`error: ${error.message}`)
        throw error
      }
    })
  }

  define(program, {
    description: 'Print the location of IP addresses from a local database, without network calls.',
    argument: ['[address...]', 'IPv4 or IPv6 addresses (default: one a line from standard input)'],
    options: LOOKUP_OPTIONS,
    readsInput: true,
    run: async (flags, addresses) => {
      const [word, ...others] = addresses
      const named = addresses.find((each) => each !== 'help') ?? ''
      const meant = commandNames().includes(named) ? undefined : insteadOfAddress(named, commandNames())
      if (meant !== undefined) throw new UsageError(meant)
      if (word === 'help') {
        await program.parseAsync([...others, '--help'], { from: 'user' })
        return ExitStatus.ok
      }
      const { runLookup } = await import('./lookup-command.ts')
      return runLookup(addresses, flags, terminal)
    },
  })
  // Code and long lists of options that only one command needs are loaded when it runs.
  program.commandsGroup('Logs and tables:')
  const enrichFlags = () => import('./enrich/flags.ts')
  define(program.command('enrich'), {
    description: 'add the location to each line of logs and tables',
    argument: ['[file...]', 'files (default: standard input)'],
    options: async () => (await enrichFlags()).ENRICH_OPTIONS,
    help: async () => (await enrichFlags()).ENRICH_HELP,
    readsInput: true,
    run: async (flags, files) =>
      flags.rows === true
        ? (await import('./enrich/rows-command.ts')).runRows(files, flags, terminal)
        : (await import('./enrich/enrich-command.ts')).runEnrich(files, flags, terminal),
  })
  const countFlags = () => import('./count/flags.ts')
  define(program.command('count'), {
    description: 'count the lines of logs and tables by country, hour, network, status and more',
    argument: ['[file...]', 'what geofix enrich reads (default: standard input)'],
    options: async () => (await countFlags()).COUNT_OPTIONS,
    help: async () => (await countFlags()).COUNT_HELP,
    readsInput: true,
    run: async (flags, files) => {
      const command = (await countFlags()).countCommand(files, flags)
      return (await import('./count/count-command.ts')).runCount(command, terminal)
    },
  })
  define(program.command('formats'), {
    description: 'list the formats that geofix enrich reads, with an example of each',
    options: {},
    run: async () => {
      const { FORMAT_DEFINITIONS } = await import('../enrich/formats/all-formats.ts')
      const width = Math.max(...FORMAT_DEFINITIONS.map(({ name }) => name.length)) + 2
      for (const { name, title, example } of FORMAT_DEFINITIONS) {
        const text = example.replace(/^/gm, ' '.repeat(width))
        await writeLine(terminal.stdout, `${name.padEnd(width)}${title}\n${text}\n`)
      }
      return ExitStatus.ok
    },
  })
  program.commandsGroup('Databases:')
  define(program.command('info'), {
    description: 'describe a database: type, age, networks, languages, licence, fields',
    options: INFO_OPTIONS,
    run: async (flags) => (await import('./info-command.ts')).runInfo(flags, terminal),
  })
  define(program.command('verify'), {
    description: 'check whole database files: search tree, pointers, records, text, metadata',
    argument: ['<file...>', '.mmdb, .gz or .tar.gz', databasePath],
    options: {},
    run: async (_, files) => (await import('./info-command.ts')).runVerify(files, terminal),
  })
  const conversions = () => import('./convert-commands.ts')
  for (const [action, description, text] of [
    ['pack', 'pack a database: half the size of gzip, and read without unpacking', '.mmdb, .gz or .tar.gz'],
    ['unpack', 'unpack a packed database to an .mmdb file', 'a packed database'],
  ] as const) {
    define(program.command(action), {
      description,
      argument: ['<file>', text, databasePath],
      options: PACK_OPTIONS,
      run: async ({ output }, [input = '']) => (await conversions()).runPack(action, input, output, terminal),
    })
  }
  define(program.command('slim'), {
    description: 'make a smaller database: fewer fields, languages, countries, or IPv4 only',
    argument: ['<file>', '.mmdb, .gz, .tar.gz or packed', databasePath],
    options: SLIM_OPTIONS,
    run: async (flags, [input = '']) => (await conversions()).runSlim(input, flags, terminal),
  })
  define(program.command('overlay'), {
    description: 'add your own networks to a database, private ones too',
    argument: ['<file>', '.mmdb, .gz, .tar.gz or packed', databasePath],
    options: OVERLAY_OPTIONS,
    run: async (flags, [input = '']) => (await conversions()).runOverlay(input, flags, terminal),
  })
  const exportFlags = () => import('./export/flags.ts')
  define(program.command('export'), {
    description: 'write the networks of a database as a table: CSV, Parquet or NDJSON',
    options: async () => (await exportFlags()).EXPORT_OPTIONS,
    help: async () => (await exportFlags()).EXPORT_HELP,
    run: async (flags) => {
      const command = (await exportFlags()).exportCommand(flags)
      return (await import('./export/export-command.ts')).runExport(command, terminal)
    },
  })
  program.commandsGroup('Services:')
  const serveFlags = () => import('./serve/flags.ts')
  define(program.command('serve'), {
    description: 'serve locations over HTTP',
    options: async () => (await serveFlags()).SERVE_OPTIONS,
    help: async () => (await serveFlags()).SERVE_HELP,
    run: async (flags) => {
      const settings = (await serveFlags()).serveSettings(flags)
      return (await import('./serve/serve-command.ts')).runServe(settings, terminal)
    },
  })

  const keysOptions = async () => (await import('./keys/flags.ts')).KEYS_OPTIONS
  const keysCommand = () => import('./keys/keys-command.ts')
  const keys = program.command('keys').description('manage the API keys of geofix serve')
  const id = ['<id>', 'as geofix keys list prints it'] as const
  define(keys.command('add'), {
    description: 'add a key and print it, once',
    options: async () => (await keysOptions()).add,
    run: async (flags) => (await keysCommand()).addKey(flags, terminal),
  })
  define(keys.command('list'), {
    description: 'print the id, plan, times and label of each key',
    options: async () => (await keysOptions()).list,
    run: async (flags) => (await keysCommand()).listKeys(flags, terminal),
  })
  define(keys.command('revoke'), {
    description: 'remove a key',
    argument: id,
    options: async () => (await keysOptions()).revoke,
    run: async (flags, [each = '']) => (await keysCommand()).revokeKey(each, flags),
  })
  define(keys.command('rotate'), {
    description: 'print a new key like another, which stays valid until you revoke it',
    argument: id,
    options: async () => (await keysOptions()).rotate,
    run: async (flags, [each = '']) => (await keysCommand()).rotateKey(each, flags, terminal),
  })
  define(program.command('detect'), {
    description: 'explain, hop by hop, which address a request comes from',
    options: DETECT_OPTIONS,
    run: async (flags) => (await import('./detect-command.ts')).runDetect(flags, terminal),
  })
  program.commandsGroup('Other programs:')
  const engine = program.command('engine').description('run geofix enrich in other programs')
  define(engine.command('spark'), {
    description: 'write what Apache Spark needs: two modules of Python and geofix-worker.tgz',
    argument: ['<folder>', 'the folder, which is made if it does not exist'],
    options: ENGINE_OPTIONS,
    run: async (flags, [folder = '']) =>
      (await import('./engine-command.ts')).writeSparkFiles(folder, flags, terminal),
  })
  define(engine.command('python'), {
    description: 'write geofix_locator.py, a module for columns of Apache Arrow',
    argument: ['<folder>', 'the folder, which is made if it does not exist'],
    options: {},
    run: async (_, [folder = '']) =>
      (await import('./engine-command.ts')).writePythonModule(folder, terminal),
  })
  define(engine.command('columns'), {
    description: 'answer binary requests with columns of addresses, see the guide of engines',
    options: async () => (await enrichFlags()).COLUMNS_OPTIONS,
    readsInput: true,
    run: async (flags) => (await import('./enrich/rows-command.ts')).runColumns(flags, terminal),
  })
  for (const parent of [keys, engine])
    parent.helpCommand(false).showHelpAfterError(`(see geofix ${parent.name()} --help)`)
  return program
}

interface CommandDefinition<Options extends OptionGroups> {
  readonly description: string
  /** The name and description in the help, and a parser of each value; the default keeps the text. */
  readonly argument?: readonly [name: string, text: string, read?: (text: string) => string]
  /** A function loads them when the command runs. */
  readonly options: Options | (() => Promise<Options>)
  readonly help?: () => Promise<HelpTexts>
  /** Whether the command reads standard input when it has no arguments. */
  readonly readsInput?: boolean
  readonly run: (flags: FlagsOf<Options>, args: readonly string[]) => Promise<ExitStatus>
}

/** commander's message, made printable: it can quote a file name. A suggestion stays on its own line. */
function printableError(text: string): string {
  const lines = text.trimEnd().split(/\n(?=\(Did you mean [^\n]*\)$)/)
  return lines.map((line) => printable(line.replace(/^error: /, 'geofix: '))).join('\n')
}
