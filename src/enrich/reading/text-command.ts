import { looksLikeVersions } from './address-evidence.ts'
import { kindOfValue } from './field-guess.ts'
import { addressWeight, isOtherName } from './known-names.ts'

/** What another program writes before each line, and the script for `sed -E` that removes it. */
const PREFIXES: readonly (readonly [prefix: RegExp, script: string])[] = [
  // Docker Compose: `web-1  | `.
  [/^[\w.-]+ +\| /, 's/^[^|]*[|] //'],
  // Kubernetes and containerd: `2026-07-01T12:00:00.123Z stdout F `.
  [/^\d{4}-\d\d-\d\dT\S+ (?:stdout|stderr) [FP] /, 's/^[^ ]* [^ ]* [^ ]* //'],
  // syslog, RFC 3164: `Jul  1 12:00:00 web nginx: `.
  [/^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [^\s:]+: /, 's/^[^ ]* +[^ ]* [^ ]* [^ ]* [^ ]* //'],
]

/** Addresses as the suggested `grep` finds them. */
const IPV4 = /(?:\d{1,3}\.){3}\d{1,3}/g
const GREP = '([0-9]{1,3}[.]){3}[0-9]{1,3}'
/** A name before an address: `SRC=192.0.2.1`. It is tried once in each word: more would take too long in a long line. */
const LABELLED = /(?<![\w.-])[\d_.-]*([A-Za-z][\w.-]*)=(?:\d{1,3}\.){3}\d{1,3}/g
const COMMENT = '#'
/** The line with the names of columns in W3C's extended log format and in logs of Zeek. */
const FIELDS_LINE = /^#fields:?\s+(.*)$/i

/** Characters of a line that are looked at: expressions take long for long words. */
const MOST_CHARS = 2000

/** What can still be done with lines that are not read as they are: a command, for a message. */
export function textCommand(whole: readonly string[]): string {
  const lines = whole.map((line) => line.slice(0, MOST_CHARS))
  const records = lines.filter((line) => !line.startsWith(COMMENT))
  const isUsual = (test: (line: string) => boolean): boolean =>
    records.filter(test).length * 2 > records.length
  const [, script] = PREFIXES.find(([prefix]) => isUsual((line) => prefix.test(line))) ?? []
  if (script !== undefined) {
    return `To remove what another program wrote before each line: sed -E '${script}' FILE | geofix enrich`
  }
  const [word, ...others] = wordsWithAddresses(lines, records)
  if (word !== undefined) {
    const [what, rest] =
      others.length === 0
        ? ['the addresses alone', '']
        : [
            'one of the addresses of each line',
            `, for example ${word.example}. The others are ${others.map(({ number, example }) => `$${number}, for example ${example}`).join(', ')}`,
          ]
    return `To locate ${what}: awk '${condition(lines, word.number)}{ print $${word.number} }' FILE | geofix enrich${rest}`
  }
  const found = records.flatMap((line) => line.match(IPV4) ?? [])
  const isOne = isUsual((line) => line.match(IPV4)?.length === 1)
  if (isOne && found.length <= records.length && !looksLikeVersions(found)) {
    return `To locate the IPv4 addresses alone: grep -oE '${GREP}' FILE | geofix enrich`
  }
  const labels = new Set(records.flatMap((line) => [...line.matchAll(LABELLED)].map(([, name = '']) => name)))
  const [label, another] = [...labels].filter(
    (name) => !isOtherName([name]) && isUsual((line) => line.includes(`${name}=`)),
  )
  if (label !== undefined && another === undefined) {
    return `To locate the addresses after ${label}= alone: sed -nE 's/.*\\b${label}=(${GREP}).*/\\1/p' FILE | geofix enrich`
  }
  return 'To locate addresses alone, write each on its own line: geofix enrich --format list'
}

/** What awk is to leave out before it prints a word: comments, or a header. */
function condition(lines: readonly string[], number: number): string {
  if (lines.some((line) => line.startsWith(COMMENT))) return '!/^#/ '
  const first = wordsOf(lines[0] ?? '')[number - 1] ?? ''
  return lines.length > 1 && kindOfValue(first) === 'other' ? 'NR > 1 ' : ''
}

interface Word {
  /** From 1, as awk counts. */
  readonly number: number
  readonly example: string
}

const wordsOf = (line: string): string[] => line.trim().split(/[ \t]+/)

/**
 * The words that are addresses in most lines and can be the client's: neither versions nor named as something else. If the
 * lines have a header, only the one with the best name is returned.
 */
function wordsWithAddresses(lines: readonly string[], records: readonly string[]): Word[] {
  const values = new Map<number, string[]>()
  for (const record of records) {
    for (const [index, word] of wordsOf(record).entries()) {
      if (kindOfValue(word) === 'address') values.set(index + 1, [...(values.get(index + 1) ?? []), word])
    }
  }
  const named = lines.map((line) => FIELDS_LINE.exec(line)?.[1]).find((names) => names !== undefined)
  const names = wordsOf(named ?? records[0] ?? '')
  const nameOf = ({ number }: Word): string[] => [names[number - 1] ?? '']
  const found = [...values]
    .map(([number, found]) => ({ number, example: found[0] ?? '', found }))
    .filter(({ found }) => found.length * 2 > records.length && !looksLikeVersions(found))
    .filter((word) => !isOtherName(nameOf(word)))
    .sort((a, b) => a.number - b.number)
  const usual = found
    .map((word) => ({ word, weight: addressWeight(nameOf(word), false) }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
  return usual[0] === undefined ? found : [usual[0].word]
}
