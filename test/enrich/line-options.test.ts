// What the library accepts for each option of lines, and what the command reads for it.
import { describe, expect, it } from 'vitest'
import { checkOptions, type EnrichOptions } from '../../src/enrich/formats/formats.ts'
import { OPTIONS } from '../../src/enrich/line-options.ts'
import { checkValues, type OptionDefinitions } from '../../src/option-kinds.ts'
import { wrongOption } from '../../src/option-names.ts'

const DEFINITIONS: OptionDefinitions = OPTIONS

/** Wrong values, and values that are just not wrong. */
const VALUES: readonly (readonly [name: string, wrong: readonly unknown[], right: readonly unknown[]])[] = [
  ['into', ['', 5], ['place']],
  ['fields', [[], ['city', 'city'], ['town'], 'city'], [['city', 'country_code']]],
  ['append', ['yes', 1], [true, false]],
  ['annotate', [5], ['{ip} {city}']],
  ['nth', [0, 1.5, 10_001, '1'], [1, 10_000]],
  ['to', ['csv', 'json', true], ['ndjson']],
  ['cityNames', ['de'], ['en', 'locale']],
  ['onBadLine', ['skip'], ['raw', 'keep', 'drop', 'fail']],
  ['maxLineBytes', [0, 2 ** 28 + 1, Number.NaN], [1, 2 ** 28]],
  ['maxRecordLines', [0, 2 ** 20 + 1], [1, 2 ** 20]],
  [
    'mask',
    [[32, 48], [24, 128], [24, -1], [24.5, 48], [24], [24, 48, 1], '24,48'],
    [
      [0, 0],
      [31, 127],
    ],
  ],
  ['pseudonymKey', [new Uint8Array(15), 'a text of sixteen'], [new Uint8Array(16)]],
  ['quoting', ['single'], ['double', 'none']],
]

describe.each(VALUES)('the option %s', (name, wrong, right) => {
  it.each(wrong.map((value) => [value]))('must not be %j', (value) => {
    const message = `the option "${name}" must be ${DEFINITIONS[name]?.kind.what}`
    expect(() => checkValues({ [name]: value }, DEFINITIONS)).toThrow(new TypeError(message))
  })

  it.each(right.map((value) => [value]))('can be %j', (value) => {
    expect(() => checkValues({ [name]: value }, DEFINITIONS)).not.toThrow()
  })
})

describe('a definition', () => {
  /** Texts of command lines, right and wrong ones. */
  const TEXTS = [
    '',
    '0',
    '1',
    '24,48',
    '24,128',
    '1e3',
    '99999999999',
    'city',
    'city,city',
    'raw',
    'none',
    'ndjson',
  ]

  // The command reads the name of the key's file.
  const both = Object.entries(DEFINITIONS).filter(([name]) => name !== 'pseudonymKey')

  it.each(both)('of %s reads nothing on a command line that the library refuses', (name, { kind }) => {
    const read = TEXTS.map((text) => kind.read?.(text)).filter((value) => value !== undefined)
    for (const value of read) expect(() => checkValues({ [name]: value }, { [name]: { kind } })).not.toThrow()
  })
})

describe('options that do not fit together', () => {
  it.each<[EnrichOptions, string]>([
    [
      { onlyFailed: true, dropUnresolved: true },
      'the options "onlyFailed" and "dropUnresolved" leave nothing to write',
    ],
    [
      { onlyCountries: ['DE'], notCountries: ['FR'] },
      'the options "onlyCountries" and "notCountries" exclude each other',
    ],
    [
      { mask: [24, 48], pseudonymKey: new Uint8Array(16) },
      'the options "mask" and "pseudonymKey" exclude each other',
    ],
    [
      { mask: [24, 48], dropAddress: true },
      'the options "mask" and "dropAddress" exclude each other: use one of them',
    ],
    [{ format: 'csv', append: true }, 'list, text, not for csv'],
    [{ format: 'list', maxRecordLines: 5 }, 'the option "maxRecordLines" is for tsv, csv, not for list'],
  ])('are refused: %j', (options, message) => {
    expect(() => checkOptions(options)).toThrow(message)
  })

  it('are those that are given: a default is not', () => {
    const defaults = {
      onlyFailed: false,
      dropUnresolved: true,
      append: false,
      header: true,
      maxRecordLines: 1000,
    }
    expect(() => checkOptions({ format: 'list', ...defaults })).not.toThrow()
  })
})

describe('wrongOption', () => {
  it('names options as the caller writes them', () => {
    const error = wrongOption`for <a, b>, <${'c'}> and <a> have "<${5}>"`
    const { message } = wrongOption`<a, b> need <c>, which needs <a>; ${'<b>'}`
    expect(message).toBe('the options "a" and "b" need "c", which needs "a"; <b>')
    expect(wrongOption`<a> has ${'<b>'}`.message).toBe('the option "a" has <b>')
    expect(error.inFlags((name) => (name === 'c' ? undefined : `--${name}`))).toBe(
      'for --a and --b, "c" and --a have "--5"',
    )
    expect(error).toBeInstanceOf(TypeError)
  })
})
