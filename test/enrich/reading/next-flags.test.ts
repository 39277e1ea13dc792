// What errors say to type: flags that work.
import { describe, expect, it } from 'vitest'
import type { EnrichOptions, Format } from '../../../src/enrich/formats/formats.ts'
import { enrich } from '../../../src/enrich.ts'
import { openWorld, run, utf8 } from '../world.ts'

const LINE = '81.2.69.142 - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 12'

async function refusal(input: string, options: EnrichOptions = {}): Promise<string> {
  async function* chunks() {
    yield utf8(input)
  }
  try {
    for await (const _ of enrich(chunks(), { resolver: await openWorld(), ...options }).output);
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
  return ''
}

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
