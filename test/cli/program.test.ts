import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { run } from '../../src/cli/program.ts'
import { COMMAND_LINES, OTHER_OPTIONS } from '../../src/cli/suggestions.ts'
import { float, MmdbWriter } from '../../src/writer.ts'
import { bytesOf, encode, handMade } from '../mmdb/hand-made.ts'
import { databaseOf, databaseWith } from '../own-databases.ts'
import { makeFile, temporaryFolder } from '../temporary.ts'
import { failure, geofix, printed, valuesIn, words } from './enrich/command-line.ts'

const folder = temporaryFolder()

const file = (name: string, bytes: Uint8Array | string): string => makeFile(join(folder, name), bytes)

const NETWORKS = {
  '81.2.69.0/24': {
    country: { iso_code: 'GB', names: { en: 'United Kingdom', de: 'Vereinigtes Königreich' } },
    subdivisions: [{ iso_code: 'ENG' }],
    location: { latitude: float(51.5), longitude: float(-0.5), time_zone: 'Europe/London' },
  },
  '2001:4860::/32': { country: { iso_code: 'US' } },
}
const METADATA = {
  databaseType: 'Sample-City',
  languages: ['en', 'de'],
  description: { en: 'A sample' },
  buildDate: new Date('2026-06-05T00:00:00Z'),
}
const DB = file('sample.mmdb', databaseOf(NETWORKS, METADATA))

/** A database whose build time is out of range. */
function withInvalidDate(): Uint8Array {
  const buildDate = new Date(0x7fff_ffff * 1000)
  const bytes = Buffer.from(databaseOf({}, { buildDate, ipVersion: 4 }))
  // A uint64 of four bytes becomes one of eight: the control bytes are 04 02 and 08 02.
  const at = bytes.indexOf(Buffer.from('04027fffffff', 'hex'))
  return Buffer.concat([
    bytes.subarray(0, at),
    Buffer.from('0802ffffffffffffffff', 'hex'),
    bytes.subarray(at + 6),
  ])
}

const NO_TRUST = '--forwarded-header is set, but --trust is empty'

describe('geofix ADDRESS…', () => {
  it('prints one JSON record per line', async () => {
    const out = await printed(geofix(['--db', DB, '81.2.69.142', '2001:4860::1']))
    expect(valuesIn(out).map(({ country }) => country.code)).toEqual(['GB', 'US'])
  })

  it.each<[args: string[], columns: number, ...lines: (string | RegExp)[]]>([
    [
      ['81.2.69.142', '--at', '2026-07-01T12:00:00Z'],
      100,
      'address      81.2.69.142',
      'place        GB-ENG, United Kingdom',
      'coordinates  51.5, -0.5',
      'local time   2026-07-01 13:00 (UTC+01:00)',
      'time zone    Europe/London',
    ],
    [['81.2.69.142', '--locale', 'de'], 24, /^address/, 'place        GB-ENG,', '             Vereinigtes'],
    [['81.2.69.142'], 0, /^address/, 'place        GB-ENG, United Kingdom'],
    [['2001:4860::1'], 100, 'address      2001:4860::1', 'place        United States', '', ''],
    [
      ['81.2.69.142', '--asn'],
      100,
      ...[/^address/, /^place/, /^coord/, /^local/, /^time/],
      ...[/^network +81\.2\.[\d.]+\/\d+$/, /^owner +\S.*, AS\d+$/],
    ],
    [['81.2.69.142', '--json'], 100, /^\{"ip":"81.2.69.142",.*\}$/],
    [['81.2.69.142', '--pretty'], 100, '{', '  "ip": "81.2.69.142",'],
  ])('prints %j on a terminal of %i columns', async (args, columns, ...lines) => {
    const out = await printed(geofix(['--db', DB, ...args], { isShown: true, columns }))
    expect(out.split('\n').slice(0, lines.length)).toEqual(
      lines.map((line) => (typeof line === 'string' ? line : expect.stringMatching(line))),
    )
  })

  it('prints one line per failure on standard error, and exits with 1', async () => {
    const { status, out, err } = await geofix(words`--db ${DB} 10.0.0.1 81.2.69.142 nonsense\u0007 8.8.8.8`)
    expect(status).toBe(1)
    expect(out.split('\n')).toHaveLength(2)
    expect(err.trimEnd().split('\n')).toEqual([
      'geofix: 10.0.0.1 has no location: it is a private network address',
      expect.stringMatching(/^geofix: "nonsense\\u0007" is not an IP address/),
      'geofix: 8.8.8.8 has no location: the database has none for it',
    ])
  })

  it('reads standard input if no address is given: LF and CRLF, chunks of any size, a byte order mark', async () => {
    const bytes = Buffer.from('\ufeff81.2.69.142\r\n2001:4860::1\r\nM\u00fcnchen\n\n')
    for (let size = 1; size < 8; size++) {
      const pieces = (async function* () {
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
      })()
      const { status, out, err } = await geofix(['--db', DB], { input: pieces })
      expect(status).toBe(1)
      expect(valuesIn(out).map(({ ip }) => ip)).toEqual(['81.2.69.142', '2001:4860::1'])
      expect(err).toMatch(/^geofix: "M\\u00fcnchen" is not an IP address.*\n$/)
    }
  })

  it('names the command for lines that are more than an address', async () => {
    const { status, err } = await geofix(['--db', DB], { input: '81.2.69.142 - - [1/Jul/2026]\n10.0.0.1\n' })
    expect(status).toBe(1)
    expect(err).toMatch(/^geofix: [^\n]*; geofix enrich reads logs and tables\n[^\n]* network address\n$/)
  })

  it('bounds the memory for an endless line', async () => {
    const piece = Buffer.alloc(1024 * 1024, '1')
    let most = 0
    const pieces = (async function* () {
      yield Buffer.from('81.2.69.142\n')
      const before = process.memoryUsage().heapUsed
      // Longer than the longest possible string.
      for (let i = 0; i < 600; i++) {
        yield piece
        most = Math.max(most, process.memoryUsage().heapUsed - before)
      }
      yield Buffer.from('\n81.2.69.142')
    })()
    const { status, out, err } = await geofix(['--db', DB], { input: pieces })
    expect(status).toBe(1)
    expect(out.trimEnd().split('\n')).toHaveLength(2)
    expect(err.length).toBeLessThan(300)
    expect(most).toBeLessThan(200_000_000)
  })

  it('prints help for "help" too, of a command if it is named', async () => {
    const help = await geofix(['--help'])
    expect(help.out).toMatch(
      /--db[\s\S]*--locale[\s\S]*--at[\s\S]*--json[\s\S]*--pretty[\s\S]*enrich[\s\S]*info[\s\S]*Exit status/,
    )
    for (const args of [['help'], ['help', 'help']])
      expect(await geofix(args)).toEqual({ ...help, status: 0 })
    expect(await geofix(['help', 'pack'])).toEqual(await geofix(['pack', '--help']))
  })

  it('has the city in the language of --locale with --city-names locale', async () => {
    const names = { en: 'Munich', de: 'München' }
    const path = file('cities.mmdb', databaseWith({ city: { names } }))
    const args = ['--db', path, '--locale', 'de', '81.2.69.1']
    expect(JSON.parse((await geofix(args)).out).city).toBe('Munich')
    expect(JSON.parse((await geofix([...args, '--city-names', 'locale'])).out).city).toBe('München')
    expect((await geofix([...args, '--city-names', 'de'])).err).toContain('en, locale')
  })

  const broken: readonly (readonly [what: string, path: string, error: string])[] = [
    // A file whose first read fails, as on a bad disk or a stale mount.
    ['a file that fails to be read', '/proc/self/mem', 'EIO'],
    ['a folder', folder, 'EISDIR'],
    ['a file that does not exist', join(folder, 'none.mmdb'), 'ENOENT'],
    ['a path through a file', join(DB, 'x.mmdb'), 'ENOTDIR'],
  ]
  const CSV = file('networks.csv', 'network,country_code\n10.0.0.0/8,GB\n')
  const commands: Readonly<Record<string, (path: string) => string[]>> = {
    lookup: (path) => ['--db', path, '81.2.69.142'],
    info: (path) => ['info', '--db', path],
    verify: (path) => ['verify', DB, path],
    enrich: (path) => ['enrich', '--db', path, '--format', 'list'],
    'enrich --rows': (path) =>
      words`enrich --rows --format tsv --quoting none --field 1 --at 2026-07-01 --db ${path}`,
    serve: (path) => ['serve', '--open', '--port', '0', '--db', path],
    pack: (path) => ['pack', path, '-o', join(folder, 'out')],
    unpack: (path) => ['unpack', path, '-o', join(folder, 'out')],
    slim: (path) => ['slim', path, '-o', join(folder, 'out')],
    overlay: (path) => ['overlay', path, '--csv', CSV, '-o', join(folder, 'out')],
    'overlay --csv': (path) => ['overlay', DB, '--csv', path, '-o', join(folder, 'out')],
  }

  it.each(Object.entries(commands))(
    'prints one line and exits with 4 for a file that the system cannot read: %s',
    async (_, args) => {
      for (const [what, path, error] of broken) {
        if (process.platform !== 'linux' && path.startsWith('/proc')) continue
        const { status, err } = await geofix(args(path), { input: '81.2.69.142\n' })
        expect(err, what).toMatch(new RegExp(`^geofix: [^\n]*: it cannot be read: [^\n]*${error}[^\n]*\n$`))
        expect(status, what).toBe(4)
      }
    },
  )

  it.each([
    [['--nonsense'], 'unknown option'],
    [['--at', '2026-02-30T00:00', '81.2.69.142'], 'with Z or an offset'],
    [['--db'], 'argument missing'],
    [['info', 'extra'], 'info takes no file: name the database with --db FILE'],
    [
      ['--db', DB, 'info'],
      'geofix: write options after "info": see geofix info --help\n(see geofix --help)\n',
    ],
    [['verify'], 'missing required argument'],
    [['detect'], '--peer'],
    [words`detect --peer 10.0.0.1 --forwarded-header forwarded`, NO_TRUST],
    [words`serve --open --forwarded-header x-real-ip`, NO_TRUST],
    [['detect', '--peer', '10.0.0.1', '--header', 'nonsense'], 'Write it as'],
    [['81.2.69.142', '--csv'], "unknown option '--csv': use echo 81.2.69.142 | geofix enrich --to csv"],
    [['enrich', 'a.log', '--csv'], "unknown option '--csv': use --to csv"],
    [['enrich', 'a.log', '--anonymize'], 'use --mask 24,48'],
    [['enrich', 'a.log', '--by', 'city'], 'use geofix count --by'],
    [['enrich', 'a.log', '--constructor'], "unknown option '--constructor'\n(see"],
    [['enrich', 'a.log', '--outptu', 'b'], '(Did you mean --output?)'],
    [['enrich', 'a.log', '--field', 'city,country_code'], '--fields country_code,city'],
    [['enrich', 'a.log', '--field', 'src_ip,dest_ip'], '--field src_ip=source --field dest_ip=target'],
    [['count', 'a.log', '--json'], 'use --to json'],
    [['count', 'a.log', '-n', '5'], 'use --top'],
    [['help', 'enrch'], 'did you mean geofix enrich?'],
    [['keys', 'remove'], '(see geofix keys --help)'],
    [['top', 'a.log', '--csv'], '"top" is neither a command nor an address'],
  ])('exits with 2 for %o', async (args, message) => {
    expect(await geofix(args)).toEqual(failure(2, message))
  })

  it('lets errors of the code itself through, which are not the message of a fault', async () => {
    const stdout = new Writable({
      write: () => {
        throw new TypeError('of the code itself')
      },
    })
    const streams = { stdin: Readable.from([]), stdout, stderr: new PassThrough() }
    await expect(run(['--db', DB, '81.2.69.142'], streams)).rejects.toThrow('of the code itself')
  })
})

describe('geofix verify', () => {
  it('prints a line per fault, continues with the next file, and exits with 1', async () => {
    const bytes = readFileSync(DB)
    // The text of a key.
    bytes[bytes.indexOf('country') + 2] = 0xff
    const [damaged, none] = [file('damaged.mmdb', bytes), file('text.mmdb', 'none')]
    const { status, out, err } = await geofix(['verify', damaged, none, DB])
    expect(status).toBe(1)
    const lines = out.trimEnd().split('\n')
    expect(lines[0]).toMatch(/damaged\.mmdb: a text is not UTF-8 \(at byte \d+\)$/)
    expect(lines[1]).toMatch(/^\S+damaged\.mmdb: 1 fault; /)
    expect(lines[2]).toMatch(/^\S+: valid; \d+ nodes, \d+ records?, \d+ values$/)
    expect(err).toMatch(/text\.mmdb: it is text, which begins with "none", not a MaxMind DB file/)
  })

  it('prints a hundred faults, and counts the others', async () => {
    // Numbers after the last record, to which nothing points.
    const bytes = readFileSync(DB)
    const end = bytes.lastIndexOf(Buffer.from('abcdef4d61784d696e642e636f6d', 'hex'))
    const numbers = Buffer.alloc(2 * 1234, Buffer.of(0xa1, 1))
    const rubbish = file(
      'rubbish.mmdb',
      Buffer.concat([bytes.subarray(0, end), numbers, bytes.subarray(end)]),
    )
    const { status, out } = await geofix(['verify', rubbish])
    expect(status).toBe(1)
    const lines = out.trimEnd().split('\n')
    expect(lines).toHaveLength(102)
    expect(lines[100]).toMatch(/rubbish\.mmdb: and 1,134 more faults$/)
    expect(lines[101]).toMatch(/^\S+rubbish\.mmdb: 1,234 faults; /)
  })

  it('prints faults without an offset', async () => {
    const record = encode(new Map([['a', 1]]))
    const tree = bytesOf('000012 000002 000012 000002')
    const left = file('left.mmdb', handMade(record, { node_count: 2 }, tree))
    const { out } = await geofix(['verify', left])
    expect(out).toMatch(/left\.mmdb: no path leads to 1 of 2 nodes[^(]*$/m)
  })
})

describe('geofix info', () => {
  it('describes a database', async () => {
    const out = await printed(geofix(['info', '--db', DB]))
    const lines = out.trimEnd().split('\n')
    const [tree] = lines.splice(6, 1)
    expect(tree).toMatch(/^search tree {2}\d+ nodes, records of 24 bits$/)
    const age = Math.floor((Date.now() - Date.parse('2026-06-05')) / 86_400_000)
    expect(lines).toEqual([
      'type         Sample-City',
      `file         ${DB}`,
      'description  A sample',
      `built        2026-06-05, ${age} days ago${age >= 45 ? ', stale: older than 45 days' : ''}`,
      'networks     2',
      'IP version   6 (IPv4 and IPv6)',
      'locales      en, de',
      'licence      unknown: ask the vendor',
      'fields       country.iso_code',
      '             country.names',
      '             location.latitude',
      '             location.longitude',
      '             location.time_zone',
      '             subdivisions[].iso_code',
    ])
  })

  it('prints unknown values, and the address families', async () => {
    const options = { ipVersion: 4, languages: [], description: { de: 'Ein Muster' } } as const
    const v4 = file('v4.mmdb', databaseOf({}, options))
    const v6 = file('v6.mmdb', databaseOf({ '2a00::/12': 'a text' }))
    const timeless = file('timeless.mmdb', withInvalidDate())
    const out = await printed(geofix(words`info --db ${v4} --db ${v6} --db ${timeless}`))
    const [four, six, without, ...others] = out.split('\n\n')
    expect(others).toEqual([])
    for (const line of ['description +Ein Muster', 'networks +0', 'locales +none', 'fields +none'])
      expect(four).toMatch(new RegExp(`^${line}$`, 'm'))
    expect(four).toMatch(/^IP version +4 \(IPv4 only\)$/m)
    expect(six).not.toMatch(/^description/m)
    expect(six).toMatch(/^IP version +6 \(IPv6 only\)$/m)
    expect(without).toMatch(/^built +unknown, which counts as stale$/m)
    const json = await geofix(['info', '--json', '--db', timeless])
    expect(JSON.parse(json.out)).toMatchObject({
      buildDate: null,
      ageInDays: null,
      isStale: true,
      description: null,
    })
  })

  it.each([
    [3, '7', false, /^built +[-\d]{10}, 3 days ago$/m],
    [8, '7', true, /^built +[-\d]{10}, 8 days ago, stale: older than 7 days$/m],
    [2, '1', true, /^built +[-\d]{10}, 2 days ago, stale: older than 1 day$/m],
    [1, '36500', false, /^built +[-\d]{10}, 1 day ago$/m],
  ])('says of a database of %i days whether it is older than %s', async (age, limit, stale, row) => {
    const buildDate = new Date(Date.now() - (age + 0.5) * 86_400_000)
    const path = file('old.mmdb', databaseOf({}, { buildDate }))
    const asked = ['info', '--db', path, '--stale-after', limit]
    expect((await geofix(asked)).out).toMatch(row)
    expect(JSON.parse((await geofix([...asked, '--json'])).out)).toMatchObject({
      ageInDays: age,
      isStale: stale,
    })
  })

  it.each([
    [20, /^fields +found$/m],
    [21, /^fields +none$/m],
  ])('looks for fields after %i invalid records', async (count, fields) => {
    const writer = new MmdbWriter({ databaseType: 'Damaged', ipVersion: 4 })
    for (let i = 0; i < count; i++) writer.insert(`${i}.0.0.0/8`, `text-${String(i).padStart(2, '0')}`)
    const bytes = Buffer.from(writer.insert('99.0.0.0/8', { found: 1 }).toBytes())
    // The control bytes of texts of seven bytes become that of an unknown type.
    for (let at = bytes.indexOf('Gtext-'); at >= 0; at = bytes.indexOf('Gtext-', at)) bytes[at] = 0
    const out = await printed(geofix(['info', '--db', file('invalid.mmdb', bytes)]))
    expect(out).toMatch(fields)
  })

  it('prints one JSON object per database, of the embedded one by default', async () => {
    const { out } = await geofix(['info', '--json', '--db', DB, '--db', DB])
    const [first, second] = valuesIn(out)
    expect(first).toEqual(second)
    expect(first).toMatchObject({ type: 'Sample-City', networks: 2, ipVersion: 6, recordSize: 24, path: DB })
    const embedded = await geofix(['info', '--json'])
    expect(JSON.parse(embedded.out)).toMatchObject({ type: 'Geofix-City', holdsIPv4: true })
  })
})

describe('geofix detect', () => {
  const PROXY = words`--peer 10.0.0.1 --trust 10.0.0.0/8`
  it.each<[what: string, status: number, args: string[], ...lines: RegExp[]]>([
    [
      'a client behind a proxy',
      0,
      words`--peer 10.0.0.1 --trust uniquelocal --header ${'X-Forwarded-For: x, 2A00::1,, ::ffff:10.0.0.2'}`,
      /^1\. The peer 10\.0\.0\.1 is a trusted proxy/,
      /^2\. The hop 10\.0\.0\.2 is a trusted/,
      /^3\. The hop 2a00::1 .* is the client/,
      /^The client is 2a00::1, from the header field x-forwarded-for\.$/,
    ],
    [
      'a header without a trusted proxy',
      0,
      words`--peer 81.2.69.142 --header ${'X-Forwarded-For: 1.1.1.1'}`,
      /headers are ignored/,
      /^The client is 81\.2\.69\.142, from the socket\.$/,
    ],
    [
      'one address, in a field by name',
      0,
      words`--peer unix: --trust unix: --forwarded-header X-Real-IP --header ${'x-real-ip: 2002:808:808::1'}`,
      /^1\. The peer unix: /,
      /was set by the trusted proxy/,
      /looked up as 8\.8\.8\.8/,
    ],
    [
      'one address that would be trusted in a list',
      1,
      words`${PROXY} --forwarded-header X-Real-IP --header ${'X-Real-IP: 10.0.0.7'}`,
      /trusted/,
      /^2\. The hop 10\.0\.0\.7 was set by the trusted proxy/,
      /private/,
    ],
    [
      'a malformed hop',
      1,
      words`${PROXY} --header ${'X-Forwarded-For: 8.8.8.8, \u001b[31m'}`,
      /trusted proxy/,
      /^2\. The hop "\\u001b\[31m" is malformed/,
      /cannot be parsed\.$/,
    ],
    [
      'a hop that identifies nobody',
      1,
      words`${PROXY} --header ${'X-Forwarded-For: unknown'}`,
      /trusted/,
      /does not identify an address/,
      /does not say/,
    ],
    ['only proxies', 1, PROXY, /trusted/, /^Only trusted proxies are known, the farthest is 10\.0\.0\.1\.$/],
    ['a client without location', 1, ['--peer', '127.0.0.1'], /not a trusted/, /loopback/],
    ['no peer address', 1, ['--peer', 'localhost'], /is not an IP address/],
  ])('explains %s', async (_, status, args, ...lines) => {
    const { out, ...rest } = await geofix(['detect', ...args])
    expect(rest).toEqual({ status, err: '' })
    expect(out.trimEnd().split('\n')).toEqual(lines.map((line) => expect.stringMatching(line)))
  })
})

describe('a word that is not an address', () => {
  const log = file('access.log', '')
  it.each([
    [
      'serv',
      2,
      '"serv" is neither a command nor an address (host names are not resolved): did you mean geofix serve?',
    ],
    ['top', 2, 'geofix count --top 20 access.log?'],
    ['report', 2, '--summary html=report.html?'],
    ['lookup', 2, 'did you mean geofix ADDRESS?'],
    ['localhost', 2, '"localhost" is neither a command nor an address (host names are not resolved)\n'],
    ['constructor', 2, '"constructor" is neither a command nor an address (host names are not resolved)\n'],
    ['example.com', 1, 'host names are not resolved'],
    ['feed::', 1, 'reserved'],
    [log, 2, `is a file, not an address: write geofix enrich ${log} or geofix count ${log}`],
    [DB, 2, `is a file, not an address: write geofix info --db ${DB}`],
  ])('%s ends with %i: %s', async (word, status, message) => {
    expect(await geofix(['--db', DB, word])).toEqual(failure(status, message))
  })
})

const others = Object.entries(OTHER_OPTIONS).flatMap(([command, options]) =>
  Object.values(options).map((instead) => [command, instead] as const),
)
const lines = Object.values(COMMAND_LINES).map((line) => ['', line] as const)
it.each([...lines, ...others])('%s: suggests only what exists: %s', async (command, line) => {
  const [, called = command] = /geofix ([a-z]*)/.exec(line) ?? []
  const out = await printed(geofix(called === '' ? ['-h'] : [called, '-h']))
  for (const [flag] of line.matchAll(/--[\w-]+/g)) expect(out).toContain(flag)
})
