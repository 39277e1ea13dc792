import { kindOfValue } from './field-guess.ts'

/** What another program writes before each line, and the script for `sed -E` that removes it. */
const PREFIXES: readonly (readonly [prefix: RegExp, script: string])[] = [
  // Docker Compose: `web-1  | `.
  [/^[\w.-]+ +\| /, 's/^[^|]*[|] //'],
  // Kubernetes and containerd: `2026-07-01T12:00:00.123Z stdout F `.
  [/^\d{4}-\d\d-\d\dT\S+ (?:stdout|stderr) [FP] /, 's/^[^ ]* [^ ]* [^ ]* //'],
  // syslog, RFC 3164: `Jul  1 12:00:00 web nginx: `.
  [/^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [^\s:]+: /, 's/^[^ ]* +[^ ]* [^ ]* [^ ]* [^ ]* //'],
]

const IPV4 = /(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])/

/** What can still be done with lines that are not read as they are: a command, for a message. */
export function textCommand(lines: readonly string[]): string {
  const isUsual = (test: (line: string) => boolean): boolean => lines.filter(test).length * 2 > lines.length
  const [, script] = PREFIXES.find(([prefix]) => isUsual((line) => prefix.test(line))) ?? []
  if (script !== undefined) {
    return `To remove what another program wrote before each line: sed -E '${script}' FILE | geofix enrich`
  }
  const word = wordWithAddress(lines)
  if (word > 0) return `To locate the addresses alone: awk '{ print $${word} }' FILE | geofix enrich`
  if (isUsual((line) => IPV4.test(line))) {
    return "To locate the IPv4 addresses alone: grep -oE '([0-9]{1,3}[.]){3}[0-9]{1,3}' FILE | geofix enrich"
  }
  return 'To locate addresses alone, write each on its own line: geofix enrich --format list'
}

/** The number of the word that is an address in most lines, from 1, as awk counts; 0 if there is none or several. */
function wordWithAddress(lines: readonly string[]): number {
  const counts: number[] = []
  for (const line of lines) {
    for (const [index, word] of line
      .trim()
      .split(/[ \t]+/)
      .entries()) {
      if (kindOfValue(word) === 'address') counts[index] = (counts[index] ?? 0) + 1
    }
  }
  const usual = [...counts.entries()].filter(([, count = 0]) => count * 2 > lines.length)
  return usual.length === 1 ? (usual[0]?.[0] ?? -1) + 1 : 0
}
