// What people write who know other programs, and what does the same in Geofix.
import { existsSync } from 'node:fs'
import { nearestName } from '../option-names.ts'

/** Command lines for words that are not commands. */
export const COMMAND_LINES: Readonly<Record<string, string>> = {
  lookup: 'geofix ADDRESS',
  locate: 'geofix ADDRESS',
  ip: 'geofix ADDRESS',
  asn: 'geofix --asn ADDRESS',
  owner: 'geofix --asn ADDRESS',
  whois: 'geofix --asn ADDRESS',
  version: 'geofix --version',
  top: 'geofix count --top 20 access.log',
  stats: 'geofix count access.log',
  report: 'geofix enrich access.log -o places.ndjson --summary html=report.html',
  map: 'geofix enrich access.log -o places.ndjson --summary html=report.html',
  annotate: 'geofix enrich access.log',
  convert: 'geofix enrich access.log --to csv',
  anonymize: 'geofix enrich access.log --mask 24,48',
  anonymise: 'geofix enrich access.log --mask 24,48',
  dump: 'geofix export -o networks.csv',
  networks: 'geofix export -o networks.csv',
}

const LOCALES = { lang: '--locale', language: '--locale' }
/** For options of commands that have `--to`. */
const TABLES = {
  csv: '--to csv',
  ndjson: '--to ndjson',
  parquet: '--to parquet',
  'output-format': '--to',
  f: '--to',
  country: '--only-country',
  countries: '--only-country',
  ...LOCALES,
}
const MASKS = { anonymize: '--mask 24,48', anonymise: '--mask 24,48' }
/** For options of commands that read lines. */
const LINES = { ...TABLES, ...MASKS, tsv: '--to tsv', json: '--to json' }

/** For each command, what to write instead of options that it does not have. The empty name is the lookup of addresses. */
export const OTHER_OPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '': {
    csv: 'echo 81.2.69.142 | geofix enrich --to csv',
    tsv: 'echo 81.2.69.142 | geofix enrich --to tsv',
    field: 'echo 81.2.69.142 | geofix enrich --fields country_code,city',
    fields: 'echo 81.2.69.142 | geofix enrich --fields country_code,city',
    ndjson: '--json',
    format: '--json',
    v: '--version',
    ...LOCALES,
  },
  enrich: {
    ...LINES,
    html: '--summary html=report.html',
    report: '--summary html=report.html',
    by: 'geofix count --by',
    'group-by': 'geofix count --by',
    top: 'geofix count --top',
    unique: 'geofix count --unique',
  },
  count: {
    ...LINES,
    markdown: '--to md',
    md: '--to md',
    fields: '--by',
    'group-by': '--by',
    limit: '--top',
    n: '--top',
    asn: '--by asn',
    summary: 'geofix enrich --summary',
  },
  export: { ...TABLES, json: '--to ndjson', format: '--to' },
}

/** What to write in place of an option that a command does not have; `undefined` if that is not known. */
export function insteadOfOption(command: string, flag: string): string | undefined {
  const known = OTHER_OPTIONS[command] ?? {}
  const name = flag.replace(/^-+/, '')
  return Object.hasOwn(known, name) ? known[name] : undefined
}

/**
 * Says why a word cannot be an address and what to write instead, if it was meant as a command or as a file.
 *
 * @param commands the names of the commands
 */
export function insteadOfAddress(word: string, commands: readonly string[]): string | undefined {
  if (/^[a-z][a-z-]*$/i.test(word)) {
    const near = nearestName(word, commands)
    const named = near === undefined ? undefined : `geofix ${near}`
    const nearest = Object.hasOwn(COMMAND_LINES, word) ? COMMAND_LINES[word] : named
    const meant = nearest === undefined ? '' : `: did you mean ${nearest}?`
    return `"${word}" is neither a command nor an address (host names are not resolved)${meant}`
  }
  // Addresses have neither a slash nor a letter after F.
  if (!/[g-z/]/i.test(word) || !existsSync(word)) return undefined
  const isDatabase = /\.(mmdb|packed)\b/.test(word)
  const lines = isDatabase ? [`geofix info --db ${word}`] : [`geofix enrich ${word}`, `geofix count ${word}`]
  return `"${word}" is a file, not an address: write ${lines.join(' or ')}`
}
