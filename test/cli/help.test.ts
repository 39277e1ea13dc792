// -h and --help: what they say about each option, and in which order.
import { describe, expect, it } from 'vitest'
import { COUNT_HELP, COUNT_OPTIONS } from '../../src/cli/count/flags.ts'
import { ENRICH_HELP, ENRICH_OPTIONS } from '../../src/cli/enrich/flags.ts'
import { EXPORT_HELP, EXPORT_OPTIONS } from '../../src/cli/export/flags.ts'
import type { HelpTexts } from '../../src/cli/flags.ts'
import { DETECT_OPTIONS, INFO_OPTIONS, LOOKUP_OPTIONS, SLIM_OPTIONS } from '../../src/cli/options.ts'
import { SERVE_HELP, SERVE_OPTIONS } from '../../src/cli/serve/flags.ts'
import { allOptions, flagOf, type OptionGroups } from '../../src/option-kinds.ts'
import { geofix, printed } from './enrich/command-line.ts'

/** The options of a help by their headings, each with its lines. */
function optionsIn(help: string): Map<string, string[][]> {
  const groups = new Map<string, string[][]>()
  let options: string[][] = []
  for (const line of help.split('\n')) {
    const [, heading] = /^(\w[\w ]*):$/.exec(line) ?? []
    if (heading !== undefined) {
      options = []
      groups.set(heading, options)
    } else if (/^ {2}-/.test(line)) options.push([line])
    else if (/^ {4}/.test(line)) options.at(-1)?.push(line)
  }
  return groups
}

/** The long flags of options. */
const flagsIn = (options: readonly string[][] = []): (string | undefined)[] =>
  options.map(([line = '']) => /--[\w-]+/.exec(line)?.[0])

const GROUPED: readonly (readonly [string, OptionGroups, HelpTexts])[] = [
  ['enrich', ENRICH_OPTIONS, ENRICH_HELP],
  ['count', COUNT_OPTIONS, COUNT_HELP],
  ['export', EXPORT_OPTIONS, EXPORT_HELP],
  ['serve', SERVE_OPTIONS, SERVE_HELP],
]

describe.each(GROUPED)('the help of geofix %s', (name, groups, texts) => {
  const first = texts.mostUsed.map((each) => flagOf(groups, each))

  it.each(['-h', '--help'])('%s has the most used options, then the others by groups', async (flag) => {
    const out = await printed(geofix([name, flag]))
    const found = optionsIn(out)
    expect(new Set(flagsIn(found.get('Most used')))).toEqual(new Set(first))
    for (const [heading, definitions] of Object.entries(groups)) {
      const flags = Object.keys(definitions).map((each) => flagOf(groups, each))
      expect(flagsIn(found.get(heading))).toEqual(flags.filter((each) => !first.includes(each)))
    }
  })

  it('is whole in --help, with all examples and the exit statuses', async () => {
    const { out } = await geofix([name, '--help'])
    const words = out.replace(/\s+/g, ' ')
    for (const { text = '' } of Object.values(allOptions(groups))) {
      const plain = text.replaceAll('`', '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      expect(words).toContain(plain)
    }
    for (const each of [texts.about, texts.statuses, ...texts.examples]) expect(out).toContain(each)
    expect(await geofix(['help', name])).toEqual(await geofix([name, '--help']))
  })

  it('has a few examples in -h, and says where there is more', async () => {
    const { out } = await geofix([name, '-h'])
    expect(out).toContain(`Examples:\n  ${texts.examples[0]}\n`)
    expect(out).toContain(`geofix ${name} --help says more`)
    expect(out).not.toContain(texts.statuses)
  })
})

it.each<[string[], OptionGroups]>([
  ...GROUPED.map(([name, groups]): [string[], OptionGroups] => [[name], groups]),
  [[], LOOKUP_OPTIONS],
  [['info'], INFO_OPTIONS],
  [['detect'], DETECT_OPTIONS],
  [['slim'], SLIM_OPTIONS],
])('-h has at most two lines for each option of %j', async (command, groups) => {
  const { out } = await geofix([...command, '-h'])
  const options = [...optionsIn(out).values()].flat()
  const required = Object.values(allOptions(groups)).filter(({ isRequired }) => isRequired)
  expect(options.filter(([line]) => line?.includes('  required: '))).toHaveLength(required.length)
  expect(options.length).toBeGreaterThan(Object.keys(allOptions(groups)).length)
  expect(options.filter((lines) => lines.length > 2)).toEqual([])
})
