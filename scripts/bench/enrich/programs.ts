import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Command } from '../child.ts'
import type { GrownLog, LogFormat } from './grown-log.ts'
import type { Program } from './whole-process.ts'

/** Names of the programs. */
export const ONE = 'geofix, one thread'
export const TWO = 'geofix, two threads'
export const HALVES = 'geofix, two processes with half each'
export const SCRIPT = 'script with maxmind'
export const DISTINCT = 'script with python3-maxminddb, distinct addresses first'
export const FIGURES = 'script with python3-maxminddb, all figures of the report'
export const COUNT = 'geofix count --by country, one thread'
export const GOACCESS = 'GoAccess'

/** What the programs share. */
export interface Task {
  /** Path of the uncompressed database. */
  readonly database: string
  /** Path of the command. */
  readonly cli: string
  /** Folder that has maxmind in its node_modules. */
  readonly peers: string
  /** Folder for outputs. */
  readonly folder: string
}

function program(name: string, file: string, args: readonly string[], output: string): Program {
  return { name, processes: [{ command: { name, file, args }, output }] }
}

/** The columns that the scripts write. */
export const SIX_FIELDS = 'country_code,region_code,city,latitude,longitude,timezone_id'

const FIELDS: Readonly<Record<LogFormat, readonly string[]>> = {
  'access-log': [],
  ndjson: ['--field', 'client.ip', '--time-field', '@timestamp'],
  csv: ['--field', 'client_ip', '--fields', SIX_FIELDS],
}

/** `geofix enrich` on one thread. */
export function geofixCommand(
  { cli, database }: Task,
  format: LogFormat,
  input: string,
  more: readonly string[],
): Command {
  const args = [cli, 'enrich', input, '--db', database, '--quiet', '--stats', 'none', ...FIELDS[format]]
  return { name: 'geofix', file: process.execPath, args: [...args, ...more] }
}

/** `geofix enrich --rows` of an access log on standard input. */
export function rowsCommand({ cli, database }: Task): Command {
  const args = [cli, 'enrich', '--db', database, '--rows', '--format', 'access-log', '--append']
  return { name: 'geofix', file: process.execPath, args }
}

/** `geofix enrich` on one thread, on two, and in two processes beside each other, each with half of the lines. */
export function geofixPrograms(
  task: Task,
  format: LogFormat,
  { path, halves }: GrownLog,
  flags: readonly string[],
): Program[] {
  const process = (input: string, threads: string, name: string) => {
    const output = join(task.folder, name)
    const more = ['--threads', threads, '-o', output, ...flags]
    return { command: geofixCommand(task, format, input, more), output }
  }
  return [
    { name: ONE, processes: [process(path, '1', 'output')] },
    { name: TWO, processes: [process(path, '2', 'output')] },
    { name: HALVES, processes: halves.map((half, index) => process(half, '1', `output-${index}`)) },
  ]
}

const SCRIPTS = import.meta.dirname

export function scriptCommand({ database, peers }: Task, format: string, input: string): Command {
  const args = [join(SCRIPTS, 'script.mjs'), database, input, format, peers]
  return { name: SCRIPT, file: process.execPath, args }
}

/** The script that a user would write. */
export function scriptProgram(task: Task, format: LogFormat, { path }: GrownLog): Program {
  const { file, args } = scriptCommand(task, format, path)
  return program(SCRIPT, file, args, join(task.folder, 'output'))
}

/**
 * Programs that count an access log and write none of its lines.
 *
 * @param asn path of an uncompressed database of autonomous systems
 */
export function reportPrograms(
  task: Task,
  { path }: GrownLog,
  python: string | null,
  asn: string,
): Program[] {
  const { cli, database, folder } = task
  const page = join(folder, 'output.html')
  const geofix = (name: string, threads: string): Program => {
    const flags = ['--threads', threads, '--only-failed', '-o', '/dev/null', '--summary', `html=${page}`]
    return { name, processes: [{ command: geofixCommand(task, 'access-log', path, flags), output: page }] }
  }
  const goaccess = [path, '--log-format=COMBINED', '--no-global-config', '--no-progress', '-o', page]
  return [
    geofix(ONE, '1'),
    geofix(TWO, '2'),
    program(
      COUNT,
      process.execPath,
      [cli, 'count', path, '--by', 'country', '--db', database, '--threads', '1', '--to', 'csv'],
      page,
    ),
    program(GOACCESS, 'goaccess', [...goaccess, '--geoip-database', database], page),
    ...(python === null
      ? []
      : [
          program(DISTINCT, python, [join(SCRIPTS, 'distinct.py'), database, path], page),
          program(FIGURES, python, [join(SCRIPTS, 'report.py'), database, asn, path], page),
        ]),
  ]
}

/** A Python that has maxminddb. Debian's package is only for Debian's Python, which need not be the first. */
export function pythonWithMaxminddb(): { readonly file: string; readonly version: string } | null {
  for (const file of ['/usr/bin/python3', 'python3']) {
    const script = 'import maxminddb; print(maxminddb.__version__)'
    const { status, stdout } = spawnSync(file, ['-c', script], { encoding: 'utf8' })
    if (status === 0) return { file, version: `python3-maxminddb ${stdout.trim()}` }
  }
  return null
}

/** `GoAccess 1.7`; `null` if it is not installed. */
export function goaccessVersion(): string | null {
  const { stdout, error } = spawnSync('goaccess', ['--version'], { encoding: 'utf8' })
  return error === undefined ? (/GoAccess - ([\d.]*\d)/.exec(stdout)?.[1] ?? null) : null
}

export function packageVersion(peers: string, name: string): string {
  const { version }: { version: string } = createRequire(join(peers, 'any.js'))(`${name}/package.json`)
  return `${name} ${version}`
}
