import { describe, expect, it } from 'vitest'
import type { EnrichOptions, Format } from '../../src/enrich/formats/formats.ts'
import { EnrichError } from '../../src/enrich.ts'
import { outputOf, run } from './world.ts'

/** The message with which a run fails; '' if it does not. */
const refusal = (input: string, options: EnrichOptions = {}): Promise<string> =>
  outputOf(input, options).then(
    () => '',
    (error: unknown) => (error instanceof Error ? error.message : ''),
  )

const LINE = '81.2.69.142 - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 12'
const LIST: EnrichOptions = { format: 'list' }

describe('an input of which no record has an address', () => {
  it.each<[string, string, EnrichOptions, string]>([
    ['prose', 'Once upon a time\nthere was\n', LIST, 'first 2 records, read as list with the address alone'],
    ['a prefix', `> web ${LINE}\n`, {}, 'the first record, read as access-log with the address as the first'],
    ['quotes', `"${LINE} "-" "curl""\n`, {}, 'read as access-log'],
    ['no access log', 'hello\n', { format: 'access-log' }, 'the first line is "hello"'],
    ['a column', 'ip,n\nx,1\n-,2\n', { format: 'csv', field: '2' }, 'in column 2; the first line is "x,1"'],
    ['a quote that is not closed', 'ip,n\n8.8.8.8,"a\n', { format: 'csv', field: 'ip' }, 'record (line 2: '],
    [
      'directives',
      '#Version: 1.0\n#Fields: c-ip x\nfoo 1\n',
      { format: 'w3c', field: '1' },
      'the first line is "foo 1"',
    ],
    ['a member', '{"a":{"b":"x"}}\n', { field: 'a.b' }, 'read as ndjson with the address in a.b'],
    ['a terminal', '\u001b[2Kweb\u202e\n', LIST, String.raw`is "\u001b[2Kweb\u202e"`],
    ['a long line', 'x'.repeat(100_000), LIST, `is "${'x'.repeat(60)}"...: name`],
    ['long records', `${'x'.repeat(1000)}\n`.repeat(900), LIST, 'the first 261 records'],
  ])('is written without a location, as if nothing was wrong: %s', async (...row) => {
    const [, input, options, message] = row
    const failed = outputOf(input, options)
    await expect(failed).rejects.toBeInstanceOf(EnrichError)
    await expect(failed).rejects.toMatchObject({
      code: 'ENRICH_NO_ADDRESS',
      message: expect.stringContaining(message),
    })
    expect(await outputOf(input, { ...options, force: true })).not.toBe('')
  })

  it('is decided by its first 1,000 records', async () => {
    const comments = '# a comment\n\n'.repeat(2000)
    expect(await outputOf(`${comments}${'x\n'.repeat(999)}10.0.0.1\n`, LIST)).toContain('"10.0.0.1"')
    const late = outputOf(`${comments}${'x\n'.repeat(1000)}10.0.0.1\n`, LIST)
    await expect(late).rejects.toMatchObject({ code: 'ENRICH_NO_ADDRESS' })
    const table = (before: number): string => `ip,n\n${'-,1\n'.repeat(before)}10.0.0.1,1\n`
    const csv: EnrichOptions = { format: 'csv', field: 'ip', fields: ['city'] }
    // Records that merely lack their address say nothing against the field.
    for (const before of [999, 1000, 60_000]) {
      expect(await outputOf(table(before), csv)).toContain('10.0.0.1,1,\n')
    }
    await expect(outputOf(table(70_000), csv)).rejects.toMatchObject({ code: 'ENRICH_NO_ADDRESS' })
  })

  it.each<[string, string, EnrichOptions]>([
    ['nothing', '', {}],
    ['comments', '# a\n\n', {}],
    ['a header', 'ip,n\n', {}],
    ['addresses without a location', '10.0.0.1\n', {}],
    ['a few records that only lack their address', '{"ip":null}\n'.repeat(9), { field: 'ip' }],
    [
      'long records of which the later ones have an address',
      `${`{"ip":null,"n":"${'x'.repeat(1000)}"}\n`.repeat(300)}{"ip":"10.0.0.1"}\n`,
      { field: 'ip' },
    ],
    ['two very long records', `${`${'x'.repeat(150_000)}\n`.repeat(2)}10.0.0.1\n`, LIST],
  ])('is not one of %s', async (_, input, options) => {
    expect(typeof (await outputOf(input, options))).toBe('string')
  })

  it('names its bad line if that ends the run', async () => {
    const failed = outputOf('hello\n', { format: 'access-log', onBadLine: 'fail' })
    await expect(failed).rejects.toMatchObject({ code: 'ENRICH_BAD_LINE', line: 1 })
  })
})

describe('an input of no known format', () => {
  it('does not show its first line', async () => {
    await expect(outputOf('\u001b[2Kweb-1  |  * Debug\nx\ny\n', {})).rejects.toMatchObject({
      code: 'ENRICH_FORMAT_UNKNOWN',
      message: expect.stringContaining(String.raw`the first of which is "\u001b[2Kweb-1  |  * Debug"`),
    })
  })

  it('is NDJSON without addresses, and does not show its first line', async () => {
    await expect(outputOf('{"a":"x"}\n', {})).rejects.toMatchObject({
      code: 'ENRICH_FIELD_UNKNOWN',
      message: expect.stringContaining(String.raw`the first object is "{\"a\":\"x\"}"`),
    })
  })

  it('is NDJSON of objects that are too deep for a recursive function', async () => {
    const depth = 50_000
    const input = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}\n`
    await expect(outputOf(input, {})).rejects.toMatchObject({ code: 'ENRICH_FIELD_UNKNOWN' })
  })
})

// What errors say to type: flags that work.
describe('lines in which no field has an address', () => {
  it.each<[string, string]>([
    ['a member of JSON', '{"message":"login from 81.2.69.142 failed"}\n'.repeat(3)],
    ['a column', 'id,message\n1,login from 81.2.69.142 failed\n2,started\n'],
    ['an access log of LiteSpeed', `"${LINE} "-" "curl/8""\n`.repeat(20)],
    ['objects of several lines in a table of words', '{\n"a": "81.2.69.142 x"\n}\n'],
  ])('are read as text, which the error names: %s', async (_, input) => {
    const [, format] = /add --format (\w+) \(in a program: format: '\1'\)$/.exec(await refusal(input)) ?? []
    expect(format).toBe('text')
    expect(run(input, { format: 'text' as Format }).counts.resolved).toBeGreaterThan(0)
  })

  it('are no text if no line has an address', async () => {
    const message = await refusal('Once upon a time\nthere was a log\n')
    expect(message).toMatch(/No address was found in them\./)
    expect(message).not.toContain('--format text')
  })

  it.each<[string, string]>([
    ['an empty member beside a server', '{"client_ip":null,"server_addr":"52.95.110.1"}\n'.repeat(20)],
    ['an empty column beside a version', `id,ip,v\n${'1,,110.0.0.0\n'.repeat(20)}`],
  ])('are not read as text if the address is merely missing: %s', async (_, input) => {
    expect(await refusal(input)).toMatch(/\(in a program: force: true\)$/)
  })

  it('can have lists of hops, for which proxies must be trusted', async () => {
    const flags =
      /If it is a list of addresses, say which proxies are trusted, as in --trust loopback,uniquelocal/
    expect(await refusal(`${LINE.replace(' ', ', 10.0.0.7 ')}\n`.repeat(20))).toMatch(flags)
  })
})

describe('what is added', () => {
  it.each<[string, RegExp]>([
    ['{"ip":"81.2.69.142","location":1}\n', /add --overwrite .*, as in --into geo/],
    ['ip,city\n81.2.69.142,x\n', /add --overwrite .* --fields/],
  ])('can replace what %j has', async (input, expected) => {
    expect(await refusal(input)).toMatch(expected)
    expect(run(input, { overwrite: true }).counts.resolved).toBe(1)
  })
})

describe('a name that text does not have', () => {
  it('is refused by its own message, also with a name for what is added', async () => {
    const line = 'Failed password for root from 81.2.69.142 port 51234 ssh2\n'
    expect(await refusal(line, { field: 'src_ip', into: 'source' })).toMatch(/--nth \(in a program: nth\)$/)
  })
})
