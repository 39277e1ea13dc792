import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { textCommand } from '../../../src/enrich/reading/text-command.ts'
import { enrich } from '../../../src/enrich.ts'
import { processorMs } from '../../processor-time.ts'
import { openWorld, run, utf8 } from '../world.ts'

const folder = mkdtempSync(join(tmpdir(), 'geofix-text-'))
afterAll(() => rmSync(folder, { recursive: true }))

const LINE = '81.2.69.142 - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 12'

async function enriched(input: string): Promise<void> {
  async function* chunks() {
    yield utf8(input)
  }
  for await (const _ of enrich(chunks(), { resolver: await openWorld() }).output);
}

describe('the command for lines that are not read', () => {
  const hosts = Array.from({ length: 12 }, (_, index) => `${20 + index}.7.${99 + index}.${index + 64}`)
  const versions = Array.from({ length: 12 }, (_, index) => `${110 + index}.0.0.0`)

  it('names all words that can be meant, with examples', () => {
    const lines = hosts.map((host) => `https 2026-07-01T12:00:00.1Z app/x ${host}:2817 10.0.0.7:80 0.0 200`)
    expect(textCommand(lines)).toBe(
      "To locate one of the addresses of each line: awk '{ print $4 }' FILE | geofix enrich, for example 20.7.99.64:2817. The others are $5, for example 10.0.0.7:80",
    )
  })

  it.each<[string, readonly string[]]>([
    ['versions', versions],
    ['versions below a header', ['version', ...versions]],
    ['counted versions', versions.map((version) => `      7 ${version}`)],
    ['versions in text', versions.map((version) => `Chrome/${version} on Linux`)],
    ['several addresses in text', hosts.map((host) => `from <${host}> to <81.2.69.1>`)],
    ['names and user agents', versions.map((version) => `web.example.net "Chrome/${version}" 81.2.69.1/32`)],
  ])('locates nothing that is not known to be the client: %s', (_, lines) => {
    expect(textCommand(lines)).toMatch(/geofix enrich --format list$/)
  })

  it.each<[string, string]>([
    [
      'an empty member beside a server',
      hosts.map((ip) => `{"client_ip":null,"server_addr":"${ip}"}\n`).join(''),
    ],
    ['an empty column beside a version', `id,ip,v\n${versions.map((version) => `1,,${version}\n`).join('')}`],
  ])('is none if the address is merely missing: %s', async (_, input) => {
    await expect(enriched(input)).rejects.toThrow(/\(in a program: force: true\)$/)
  })

  it('is the format for text if lines of another format have addresses elsewhere', async () => {
    const litespeed = `"${LINE} "-" "curl/8""\n`
    await expect(enriched(litespeed.repeat(20))).rejects.toThrow(
      /add --format text \(in a program: format: 'text'\)$/,
    )
    expect(run(litespeed, { format: 'text' }).counts.resolved).toBe(1)
  })

  it('is how to trust proxies if lines have lists of hops', async () => {
    await expect(enriched(`${LINE.replace(' ', ', 10.0.0.7 ')}\n`.repeat(20))).rejects.toThrow(
      /If it is a list of addresses, say which proxies are trusted, as in --trust loopback,uniquelocal/,
    )
  })

  it.each<[string, RegExp]>([
    ['{"ip":"81.2.69.142","location":1}\n', /add --overwrite .*, as in --into geo/],
    ['ip,city\n81.2.69.142,x\n', /add --overwrite .* --fields/],
  ])('is what to type if %j has what would be added', (input, expected) => {
    expect(() => run(input)).toThrow(expected)
    expect(run(input, { overwrite: true }).counts.resolved).toBe(1)
  })

  it('is not needed for an object of several lines', () => {
    expect(run('{\n  "ip": "81.2.69.142"\n}\n').counts.resolved).toBe(1)
  })

  it.each(['x', '1', '-'])('takes a time that grows with the length of a line of %s only', (unit) => {
    expect(processorMs(() => textCommand([unit.repeat(1_000_000)]))).toBeLessThan(10_000)
  })

  it.each(['SRC', '--ip', '1.ip', '_ip'])('names what is before an address: %s=', (label) => {
    const lines = [1, 2].map((n) => `drop ${label}=81.2.69.14${n} DST=10.0.0.1`)
    expect(textCommand(lines)).toContain(`after ${label === 'SRC' ? 'SRC' : 'ip'}= alone`)
  })

  it('is none for prose', () => {
    expect(textCommand(['Once upon a time'])).toMatch(/geofix enrich --format list$/)
  })
})

describe('an address with a port', () => {
  it.each([
    ['81.2.69.142:443', 'resolved'],
    ['[2001:4860:4860::8888]:443', 'resolved'],
    ['[2001:4860:4860::8888]', 'resolved'],
    ['81.2.69.142:99999', 'malformed'],
    ['81.2.69.142:', 'malformed'],
    ['unknown', 'malformed'],
  ])('is located: %s is %s', (ip, expected) => {
    for (const input of [`${JSON.stringify({ ip })}\n`, `n,ip\n1,${ip}\n`]) {
      const { counts } = run(
        `${input}${input.startsWith('{') ? '{"ip":"10.0.0.1"}\n{"ip":"10.0.0.2"}' : '1,10.0.0.1\n2,10.0.0.2'}\n`,
      )
      expect(expected === 'resolved' ? counts.resolved : counts.failed.malformed).toBe(1)
    }
  })
})
