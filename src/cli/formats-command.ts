import { FORMAT_DEFINITIONS } from '../enrich/formats/formats.ts'
import { ExitStatus, type Terminal, writeLine } from './terminal.ts'

/** Prints each format with what it is and an example: `geofix formats`. */
export async function runFormats(terminal: Terminal): Promise<ExitStatus> {
  const widest = Math.max(...FORMAT_DEFINITIONS.map(({ name }) => name.length))
  for (const { name, title, example } of FORMAT_DEFINITIONS) {
    const lines = [
      `${name.padEnd(widest)}  ${title}`,
      ...example.split('\n').map((line) => ' '.repeat(widest + 2) + line),
    ]
    await writeLine(terminal.stdout, `${lines.join('\n')}\n`)
  }
  return ExitStatus.ok
}
