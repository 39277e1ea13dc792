// What a command line of `geofix enrich` asks for, which of its options contradict each other or the format of the input, how it
// plans an input, and the file with the key of `--pseudonym`.
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { BadLineError, EnrichError, InputMismatchError } from '../../enrich/errors.ts'
import {
  checkFit as checkOptionsFit,
  type EnrichOptions,
  type Format,
  makePlan,
  type Plan,
} from '../../enrich/formats/formats.ts'
import { ALL_FIELDS, isMasked, OUTPUT_FORMS, omittingOption, type Planned } from '../../enrich/options.ts'
import type { Sample } from '../../enrich/reading/sample.ts'
import { codeOf } from '../../node/file-state.ts'
import { flagOf } from '../../option-kinds.ts'
import { asnOf, inFlags } from '../options.ts'
import { CommandFailure, ExitStatus, UsageError, unreadableInput, unwritable } from '../terminal.ts'
import { formOfName } from './file-forms.ts'
import { ENRICH_OPTIONS, type EnrichFlags, FORMS, PARQUET, TABLES } from './flags.ts'

/** The settings that all commands for lines have. @throws UsageError when standard input is named twice */
export function linesCommand<
  Flags extends Pick<EnrichFlags, 'output' | 'threads' | 'quiet' | 'bom' | 'pseudonymKey'>,
>(files: readonly string[], flags: Flags) {
  const { output, threads = 1, quiet = false, bom = false, ...others } = flags
  if (files.filter((file) => file === '-').length > 1) {
    throw new UsageError('Standard input (-) can be read only once.')
  }
  return {
    /** Files; `-` is standard input. At least one. */
    inputs: files.length > 0 ? files : ['-'],
    /** A file; `undefined` is standard output. */
    output: output === '-' ? undefined : output,
    threads,
    /** Prints no notes and no progress. */
    isQuiet: quiet,
    /** Whether a byte order mark begins the table. */
    hasMark: bom,
    /** The file with the key of `--pseudonym`. */
    keys: flags.pseudonymKey === undefined ? [] : [flags.pseudonymKey],
    /** The other flags. */
    others,
  }
}

export type EnrichCommand = ReturnType<typeof enrichCommand>

/** What `geofix enrich` is to do. @throws UsageError when two options contradict each other */
export function enrichCommand(files: readonly string[], flags: EnrichFlags) {
  const { output, stats, summary: summaries = [], title, to } = flags
  const { others: options, ...lines } = linesCommand(files, flags)
  const keeping = flags.annotate !== undefined ? '--annotate' : flags.append ? '--append' : undefined
  const named = to === undefined ? formOfName(output, FORMS, files) : undefined
  /** The form that is asked for, by name or by option. */
  const form = to ?? (keeping === undefined || named === PARQUET ? named : undefined)
  const isParquet = form === PARQUET
  const asn = asnOf(flags)
  const [first, ...others] = addressesOf(flags, asn !== false)
  const single = (
    ['append', 'annotate', 'nth', 'onlyFailed', 'onlyCountries', 'notCountries', 'dropUnresolved'] as const
  ).find((name) => flags[name] !== undefined && flags[name] !== false)
  if (others.length > 0 && single !== undefined) {
    const flag = flagOf(ENRICH_OPTIONS, single)
    throw new UsageError(`${flag} takes one --field: name one field, or leave out ${flag}.`)
  }
  const enrichOptions: EnrichOptions = {
    ...options,
    ...first,
    to: OUTPUT_FORMS.find((each) => each === to),
    asn: asn !== false,
    details: summaries.length > 0,
    pseudonymKey: keyOf(flags),
  }
  const namesAddresses = flags.addresses !== false && !isMasked(enrichOptions)
  const table = TABLES.find((each) => each === form)
  const isArray = form === 'json'
  if ((table !== undefined || isArray) && keeping !== undefined)
    throw new UsageError(
      `--to ${form} makes ${isArray ? 'an array' : 'a table'} of the lines, and ${keeping} keeps them: use one of them.`,
    )
  if (lines.hasMark && table === undefined)
    throw new UsageError('--bom is for tables: add --to csv, or write to a file whose name ends in .csv.')
  return {
    ...lines,
    /** Files. If empty, the embedded database is used. */
    databases: flags.db ?? [],
    /** Databases of autonomous systems: files, or `true` for the embedded one. The report names the owners of networks. */
    asn: asn === false ? summaries.length > 0 && namesAddresses : asn,
    options: enrichOptions,
    /** The addresses of each line besides that of the options. */
    others,
    /** The form of the lines; `undefined` if the format decides. All forms are made of objects. */
    to: form === undefined ? undefined : OUTPUT_FORMS[0],
    /** Whether the output is a Parquet file. */
    isParquet,
    /** The form of the table that the output is; `undefined` if it is none, or if the format decides. */
    table,
    /** Whether the output is a JSON array. One document keeps its form, if all its objects stay. */
    isArray,
    /** Whether options can leave objects out. */
    leavesOut: omittingOption(enrichOptions) !== undefined,
    /** The form of the statistics that are printed on standard error at the end. */
    statistics: stats ?? (lines.isQuiet ? 'none' : 'text'),
    /** What reports are written. */
    summaries,
    /** The title of the report; `undefined` for the names of the inputs. */
    title,
    /** Whether the report names addresses. It does not where the output has none. */
    namesAddresses,
    /** Only prints how the inputs would be read. */
    isExplained: flags.explain === true,
  }
}

/** Runs code that checks options of lines. @throws UsageError when one is wrong; its message has the flags of `geofix enrich` */
export function asUsage<Result>(check: () => Result, end = ''): Result {
  return inFlags(check, ENRICH_OPTIONS, end)
}

/** Converts an error about lines to one that names the input. Returns other errors as they are. */
export function withInputName(error: unknown, name: string): unknown {
  if (error instanceof BadLineError) {
    return new CommandFailure(`${name}, line ${error.line}: ${error.fault}`, ExitStatus.failed, error)
  }
  if (error instanceof EnrichError) {
    if (error.code === 'ENRICH_INPUT_UNREADABLE') return unreadableInput(name, error)
    return new CommandFailure(`${name}: ${error.message}`, ExitStatus.failed, error)
  }
  if (error instanceof InputMismatchError) {
    return new CommandFailure(error.message, ExitStatus.failed, error)
  }
  return error
}

/** @throws UsageError when the format of an input does not have a given option */
export function checkFit(options: EnrichOptions, format: Format, name: string): void {
  asUsage(() => checkOptionsFit(options, format, name), '.')
}

/** Where an address is, and the name of what is added for it. */
export interface AddressOption {
  readonly field: string | undefined
  readonly into: string | undefined
}

/**
 * The addresses to locate, `name=into` each; at least one.
 *
 * @param asn whether autonomous systems are added, under names of their own
 * @throws UsageError when names are missing or equal
 */
export function addressesOf(
  { field: fields = [], into }: EnrichFlags,
  asn = false,
): readonly [AddressOption, ...AddressOption[]] {
  const list = fields.find((text) => /^[\w.]+(,[\w.]+)+$/.test(text))
  if (list !== undefined) {
    const isAdded = list.split(',').some((name) => ALL_FIELDS.some((each) => each === name))
    throw new UsageError(
      isAdded
        ? `--field names the field with the address. What is added is named by --fields, as in --fields country_code,city.`
        : `--field takes one field, not ${list}. Repeat it for several, each with a name: --field src_ip=source --field dest_ip=target.`,
    )
  }
  const [only = { field: undefined, into }, ...others] = fields.map((text): AddressOption => {
    const equals = text.lastIndexOf('=')
    if (equals < 1) return { field: text, into }
    const own = text.slice(equals + 1)
    return { field: text.slice(0, equals), into: own === '' ? into : own }
  })
  if (others.length === 0) {
    if (into !== undefined && only.into !== into)
      throw new UsageError(`--field and --into both name what is added: ${only.into} and ${into}.`)
    return [only]
  }
  const names = [only, ...others].flatMap((each) => (asn ? [each.into, `${each.into}_asn`] : [each.into]))
  const same = names.find((name, index) => names.indexOf(name) !== index)
  if (into !== undefined || same !== undefined || names.includes(undefined)) {
    throw new UsageError(
      'Give each of several fields a name of its own, as in --field src_ip=source --field dest_ip=target.',
    )
  }
  return [only, ...others]
}

/** A key: 256 bits as hexadecimal digits, as `openssl rand -hex 32` writes them. */
const KEY = /^[0-9a-f]{64}$/i
const KEY_BYTES = 32

/**
 * The key of `--pseudonym`. Reads it, or makes the file with a new one that only its owner can read.
 *
 * @throws UsageError when a file is to be made that exists, or is missing
 * @throws CommandFailure when the file cannot be read or written, or has no key
 */
export function keyOf({
  pseudonymKey: file,
  newKey = false,
}: Pick<EnrichFlags, 'pseudonymKey' | 'newKey'>): Uint8Array | undefined {
  if (file === undefined) return undefined
  return newKey ? madeKey(file) : keyIn(file)
}

function madeKey(file: string): Uint8Array {
  const key = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  try {
    // `wx` replaces neither a file nor a link: a lost key cannot be made again.
    const made = openSync(file, 'wx', 0o600)
    try {
      writeFileSync(made, `${Buffer.from(key).toString('hex')}\n`, { flush: true })
    } catch (cause) {
      // A full disk must leave no file without its key.
      rmSync(file, { force: true })
      throw cause
    } finally {
      closeSync(made)
    }
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST')
      throw new UsageError(`${file} exists already: leave out --new-key to use the key in it.`)
    throw unwritable(file, cause)
  }
  return key
}

function keyIn(file: string): Uint8Array {
  let text: string
  try {
    text = readFileSync(file, 'latin1').trim()
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT')
      throw new UsageError(
        `The file of --pseudonym, ${file}, does not exist: add --new-key to make it, with a new key.`,
      )
    throw unreadableInput(file, cause)
  }
  if (KEY.test(text)) return new Uint8Array(Buffer.from(text, 'hex'))
  throw new CommandFailure(
    `${file} has no key: a key is 64 hexadecimal digits, as --new-key or openssl rand -hex 32 makes it`,
    ExitStatus.input,
  )
}

/** Imports the definitions of the formats besides access logs, which most runs do without. */
export function loadFormats(): Promise<unknown> {
  return import('../../enrich/formats/all-formats.ts')
}

/**
 * Plans the start of an input by the form of the output. `isKept` says whether the input has this form already. It is kept then.
 *
 * @param options those of the first address; the other addresses are read in the same format
 * @param made more options for lines whose form is not kept
 * @throws UsageError when an option is wrong
 */
export function planStart(
  sample: Sample,
  { inputs, to, table, isArray, leavesOut, others }: EnrichCommand,
  options: Parameters<typeof makePlan>[1],
  made: Partial<EnrichOptions> = {},
) {
  const planned = (more: (format: Format) => EnrichOptions): Planned<Plan> =>
    asUsage(() => {
      const planOf = (all: typeof options) => makePlan(sample, all, more)
      const first = planOf(options)
      const own = { ...options, format: first.plan.format, details: false }
      const further = others.map((other) => planOf({ ...own, ...other }))
      const plans = further.map(({ plan }) => ({ ...plan, tallies: null }))
      const notes = [first, ...further].flatMap((each) => each.notes)
      return { plan: others.length === 0 ? first.plan : { ...first.plan, others: plans }, notes }
    })
  const isKept = (format: Format): boolean =>
    format === table || (isArray && !leavesOut && format === 'json' && inputs.length === 1)
  const { plan, notes } = planned((format) => (isKept(format) ? {} : { to, ...made }))
  return { plan, notes, isKept: isKept(plan.format), kept: () => planned(() => ({})) }
}
