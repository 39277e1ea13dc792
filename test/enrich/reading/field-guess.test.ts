import { describe, expect, it } from 'vitest'
import type { EnrichOptions } from '../../../src/enrich/formats/formats.ts'
import { outputOf, run, text, textOrMessage } from '../world.ts'

/** Addresses of clients in many networks. */
const spread = (count: number): string[] =>
  Array.from(
    { length: count },
    (_, index) => `${20 + index}.${index % 200}.${(index * 7) % 256}.${200 - index}`,
  )

type Members = Readonly<Record<string, readonly unknown[]>>

/** The values of each line: those of a member come again if others have more. */
const linesOf = (members: Members): unknown[][] => {
  const values = Object.values(members)
  const count = Math.max(...values.map(({ length }) => length))
  return Array.from({ length: count }, (_, line) => values.map((each) => each[line % each.length]))
}

/** NDJSON of members, each with a value for each line. */
const objects = (members: Members): string =>
  linesOf(members)
    .map((values) =>
      JSON.stringify(Object.fromEntries(Object.keys(members).map((name, index) => [name, values[index]]))),
    )
    .map((line) => `${line}\n`)
    .join('')

/** The same as a table with a header. */
const table = (members: Members): string =>
  `${[Object.keys(members), ...linesOf(members)].map((row) => row.map((value) => value ?? '').join(',')).join('\n')}\n`

const both: readonly [string, typeof objects][] = [
  ['NDJSON', objects],
  ['a table', table],
]

const messageOf = (input: string, options: EnrichOptions = {}): string =>
  textOrMessage(() => `notes: ${run(input, options).notes.join('; ')}`)

describe.each(both)('a usual name in %s', (_, input) => {
  it.each([
    ['upstream', '52.95.110.1'],
    ['server_ip', '52.95.110.1'],
    ['peer', '52.95.110.1'],
    ['x', '52.95.110.1'],
  ])('is not replaced by %s because it is empty in the sample', async (other, address) => {
    const empty = Array.from({ length: 1000 }, () => '')
    const output = await outputOf(input({ ip: [...empty, '81.2.69.142'], [other]: [address] }))
    const lines = output.trimEnd().split('\n')
    expect(lines.at(-1)).toMatch(/GB/)
    expect(lines[1]).not.toMatch(/US|"ip":"52/)
  })

  it('is said to be empty, with what to type for another field', () => {
    const empty = { ip: ['-', '', '-'], visitor: ['81.2.69.142'], upstream: ['52.95.110.1'] }
    expect(messageOf(input(empty))).toMatch(
      /ip is empty in the first 3 records. To use another: --field visitor/,
    )
  })

  it("is not replaced by a name that can be a server's because it has no addresses", () => {
    const hashed = { client_ip: ['a8f7', 'b1c9'], ip: ['52.95.110.1'] }
    expect(messageOf(input(hashed))).toMatch(
      /client_ip \(for example "a8f7"\) has no addresses, .* addresses are in .*ip \(for example 52.95.110.1\).*--field ip$/,
    )
  })

  it.each([
    ['browser versions', 'ua_version', ['120.0.0.0', '121.0.0.0', '17.4.1.2']],
    ['versions under another name', 'chrome', ['120.0.0.0', '121.0.0.0', '99.0.0.0']],
    ['versions of one program', 'whatsapp', ['2.24.11.79', '2.23.25.76', '2.24.1.84']],
    ['tags', 'tag', ['1.2.3.4', '1.2.3.5']],
    ['object identifiers', 'oid', ['1.3.6.1', '1.3.6.2']],
    ['answers of name servers', 'answer', spread(50)],
    ['addresses of a server', 'server_ip', spread(50)],
    ['addresses of upstreams', 'upstream_addr', spread(50)],
    ['addresses of a few hosts', 'seen', ['52.95.110.1', '34.1.2.3', '35.9.9.9']],
    [
      'versions in many rows',
      'product',
      Array.from({ length: 40 }, (__, i) => `${i + 1}.${i % 7}.${i % 9}.${i % 30}`),
    ],
    ['private addresses', 'neighbour', Array.from({ length: 40 }, (__, i) => `10.${i}.7.${200 - i}`)],
  ])('is missing: %s are not addresses of clients', (__, name, values) => {
    const message = messageOf(input({ ts: ['2026-07-01T12:00:00Z'], page: ['/'], [name]: values }))
    expect(message).toContain(`${name} (for example ${values[0]})`)
    expect(message).toMatch(new RegExp(`--field ${name}$`))
  })

  it('is not needed by a field whose values look like addresses of clients, which is said', () => {
    expect(messageOf(input({ n: ['x'], who: spread(50) }))).toMatch(
      /the address is in .*who.*; .*who was chosen by its values/,
    )
    const unclear = messageOf(input({ who: spread(50), whom: spread(49) }))
    expect(unclear).toMatch(/who \(for example 20.0.0.200\), .*whom \(for example 20.0.0.200\).*--field who$/)
  })

  it.each([
    ['client', { host: ['10.0.0.1', '52.95.110.1'], client: ['81.2.69.142'] }],
    ['client_ip', { remote_addr: ['10.0.0.1'], client_ip: ['81.2.69.142'] }],
    ['remote_addr', { http_x_real_ip: ['9.9.9.9'], remote_addr: ['81.2.69.142'] }],
    ['src_ip', { src_ip: ['81.2.69.142'], dest_ip: ['9.9.9.9'], host: ['9.9.9.9'] }],
  ])("is the client's, not the host's: %s", (name, members) => {
    expect(messageOf(input(members))).toMatch(new RegExp(`the address is in (column \\d, )?${name}\\b`))
  })

  it('that is no better than another is an error with an example of both', () => {
    expect(messageOf(input({ user_ip: ['81.2.69.142'], viewer_ip: ['9.9.9.9'] }))).toMatch(
      /unclear which .* user_ip \(for example 81.2.69.142\), .*viewer_ip \(for example 9.9.9.9\). Say which with --field user_ip or --field viewer_ip$/,
    )
    expect(messageOf(input({ n: ['x'], host: ['81.2.69.142'] }))).toMatch(/--field host$/)
  })

  it("that holds private addresses beside those of a proxy's client says what to type", () => {
    const behind = { remote_addr: ['10.0.0.1', '10.0.0.2'], x_forwarded_for: ['81.2.69.142', '9.9.9.9'] }
    expect(messageOf(input(behind))).toMatch(
      /private, as those of proxies are. To locate their clients: --field x_forwarded_for --trust loopback,uniquelocal$/,
    )
    const trusting = { field: 'x_forwarded_for', trustedProxies: ['loopback', 'uniquelocal'] }
    expect(text(run(input(behind), trusting).output)).toMatch(/GB/)
    expect(messageOf(input({ n: ['x'], x_forwarded_for: ['81.2.69.142'] }))).toMatch(
      /--field x_forwarded_for --trust loopback,uniquelocal$/,
    )
  })
})

describe.each(both)('a field that is chosen by its values in %s', (_, input) => {
  const ends = spread(20)
  it.each<[string, readonly string[]]>([
    ['the starts of ranges', ends.map((end) => end.replace(/\d+\.\d+$/, '0.0'))],
    ['addresses of another host', [...ends].reverse()],
  ])('is none if another one can be meant: %s', (_, others) => {
    expect(messageOf(input({ von: others, bis: ends }))).toMatch(/^no (?:member|column) .* --field von$/)
    expect(messageOf(input({ start_ip: others, end_ip: ends }))).toMatch(/^no (?:member|column)/)
  })

  it.each<[string, readonly string[]]>([
    ['dst', [...ends].reverse()],
    ['version', ends.map((_, index) => `${100 + index}.0.0.0`)],
    ['innen', ends.map((_, index) => `10.0.0.${index}`)],
  ])('is chosen beside %s', (name, others) => {
    expect(messageOf(input({ [name]: others, von: ends }))).toMatch(/von was chosen by its values/)
  })
})

describe.each(both)('the address of a peer beside forwarded addresses in %s', (_, input) => {
  const forwarded = spread(20)
  it('says that it can be the address of a proxy', () => {
    const note = /most lines have a list of forwarded addresses too.*--field x_forwarded_for --trust/
    expect(messageOf(input({ remote_addr: ['172.64.1.1'], x_forwarded_for: forwarded }))).toMatch(note)
    expect(messageOf(input({ client_ip: ['172.64.1.1'], x_forwarded_for: forwarded }))).not.toMatch(note)
    expect(messageOf(input({ remote_addr: ['172.64.1.1'], x_forwarded_for: ['-', '', '-'] }))).not.toMatch(
      note,
    )
  })
})

describe.each(both)('the address of a peer beside a header with another in %s', (_, input) => {
  it('says that it can be the address of a proxy', () => {
    const note = /lines have another address in (?:column 2, )?x_real_ip.*--field (?:2|x_real_ip)(?: |$)/
    const header = { x_real_ip: spread(20) }
    const peer = spread(20).map(() => '172.64.1.1')
    expect(messageOf(input({ remote_addr: peer, ...header }))).toMatch(note)
    expect(messageOf(input({ client_ip: peer, ...header }))).not.toMatch(note)
    expect(messageOf(input({ remote_addr: spread(20), ...header }))).not.toMatch(note)
    const protocol = { remote_addr: peer, proxy_protocol_addr: spread(20) }
    expect(messageOf(input(protocol))).toMatch(/another address in (?:column 2, )?proxy_protocol_addr/)
  })
})

describe.each(both)('the time of a login in %s', (_, input) => {
  it("is not that of the account's creation", () => {
    const [created, login] = [['2020-01-01T00:00:00Z'], ['2026-07-01T00:00:00Z']]
    expect(
      messageOf(input({ created_at: created, last_login_at: login, last_login_ip: ['81.2.69.142'] })),
    ).toMatch(/the time of the event is in (?:column 2, )?last_login_at/)
  })
})

describe('a member with addresses', () => {
  it('is not chosen before a usual one that is null or absent at first', () => {
    const line = (ip: unknown) => ({ ip, upstream: '52.95.110.1' })
    const lines = [line(null), line(null), line('81.2.69.142')]
    expect(messageOf(lines.map((each) => JSON.stringify(each)).join('\n'))).toContain('the address is in ip')
    // Without the usual name there is only a server's.
    expect(messageOf(JSON.stringify({ upstream: '52.95.110.1' }))).toMatch(/--field upstream$/)
  })

  it('is not chosen by its name if only few objects have it', () => {
    const lines = Array.from({ length: 30 }, (_, id) => ({
      id,
      at: '2026-07-01T12:00:00Z',
      ipAddress: '81.2.69.142',
      ...(id % 15 === 7 && { hook: { client_ip: '8.8.8.8', timestamp: 1_500_000_000 } }),
    }))
    const { notes } = run(lines.map((each) => JSON.stringify(each)).join('\n'))
    expect(notes).toContain('the address is in ipAddress (addresses are also in hook.client_ip)')
    expect(
      messageOf(
        lines
          .slice(0, 8)
          .map((each) => JSON.stringify(each))
          .join('\n'),
      ),
    ).toContain('the address is in hook.client_ip')
  })

  it('is not chosen if the client is empty and the rest is a version, as Nextcloud writes them', () => {
    const line = (remoteAddr: string) => JSON.stringify({ remoteAddr, message: '-', version: '29.1.1.0' })
    const { notes, counts } = run(['', '10.0.0.1', ''].map(line).join('\n'))
    expect(notes).toContain('the address is in remoteAddr (addresses are also in version)')
    expect(notes.join(' ')).not.toContain('--field')
    expect(counts.resolved).toBe(0)
    expect(messageOf(['', '', ''].map(line).join('\n'))).toContain(
      'remoteAddr is empty in the first 3 records',
    )
  })

  it('is found in an array for a message', () => {
    const line = { verb: 'get', sourceIPs: ['81.2.69.142'] }
    expect(messageOf(JSON.stringify(line))).toMatch(/in an array, 81.2.69.142.*--field sourceIPs.0\. /)
    expect(messageOf(JSON.stringify(line), { field: 'sourceIPs.0' })).toBe('notes: the format is ndjson')
  })
})

/** The offsets in London in the output of NDJSON or of a table. */
const offsets = (output: string): string[] => output.match(/[+]0\d:00/g) ?? []

describe.each(both)('the time of the event in %s', (_, input) => {
  const at = (times: Record<string, readonly unknown[]>, options: EnrichOptions = {}) => {
    const { notes, output } = run(input({ ip: ['81.2.69.142'], ...times }), { at: undefined, ...options })
    return {
      note: notes.at(-1) ?? '',
      offsets: offsets(text(output).replace(/"(time|created)":"[^"]*"/g, '')),
    }
  }

  it.each([
    ['a local time', '2026-07-01T12:00:00', 'has no offset from UTC'],
    ['a day', '2026-07-01', 'has no offset from UTC'],
    ['a time of day', '12:00:00', 'is neither ISO 8601'],
    ['an American date', '7/1/2026 1:00 PM', 'is neither ISO 8601'],
    ['a date in words', 'Jul 1 12:00:00', 'is neither ISO 8601'],
    ['.NET ticks', 639_184_608_000_000_000, 'is .NET ticks'],
    ['a Windows FILETIME', 134_273_808_000_000_000, 'is a Windows FILETIME'],
    ['a WebKit time', 13_427_380_800_000_000, 'is a WebKit time'],
    ['Cocoa seconds', 804_600_000.5, 'is Cocoa seconds'],
    ['Cocoa nanoseconds', 804_600_000_000_000_000, 'is Cocoa nanoseconds'],
    ['digits of a day', 20_260_701, 'is a date written as digits'],
    ['digits of a minute', 202_607_011_200, 'is a date written as digits'],
    ['digits of a second', 20_260_701_120_000, 'is a date written as digits'],
    ['short digits of a minute', 2_607_011_200, 'is a date written as digits'],
    ['the year 2100', 4_102_444_800, 'is not between the year 2000 and tomorrow'],
    ['the year 1985', '1985-01-01T00:00:00Z', 'is not between the year 2000 and tomorrow'],
  ])('is not in another field because it is %s', (__, time, fault) => {
    const found = at({ time: [time, time], created: ['2026-07-01T12:00:00Z'] })
    expect(found.note).toContain('the time of the event is in ')
    expect(found.note).toContain(fault)
    expect(found.note).toMatch(/--time-field created for another field$/)
    expect(found.offsets).toEqual([])
    expect(at({ created: ['2026-07-01T12:00:00Z'] }).offsets).toEqual(['+01:00'])
  })

  it('is not in digits that could be seconds if all are such digits', () => {
    const digits = at({ time: [1_707_011_200, 1_707_021_359] })
    expect(digits).toMatchObject({
      offsets: [],
      note: expect.stringContaining('is a date written as digits'),
    })
    expect(at({ time: [1_707_011_200, 1_707_021_375] }).offsets.length).toBe(2)
  })

  it('is not in another field because it is empty in the sample', () => {
    const found = at({ time: ['', ''], created: ['2026-07-01T12:00:00Z'] })
    expect(found).toMatchObject({
      offsets: [],
      note: expect.stringMatching(/empty at first.*--time-field created$/),
    })
  })

  it('is not a duration or a counter', () => {
    const found = at({ time: [0.25, 12], created: ['2026-07-01T12:00:00Z'] })
    expect(found.offsets).toEqual(['+01:00', '+01:00'])
  })

  it.each([
    ['.NET ticks', 639_184_608_000_000_000, 'subtract 621355968000000000'],
    ['Cocoa seconds', 804_600_000, 'add 978307200'],
    ['digits', 20_260_701_120_000, 'write it as 2026-07-01T12:00:00Z'],
  ])('that is named is refused as %s, because it would be read as another time', (__, time, remedy) => {
    const refused = messageOf(input({ ip: ['81.2.69.142'], when: [time] }), { timeField: 'when' })
    expect(refused).toContain('when')
    expect(refused).toContain(remedy)
    expect(refused).toMatch(/--at TIME$/)
  })

  it('that is named can lie in the past and the future', () => {
    const named = at({ when: ['1980-07-01T00:00:00Z', 4_118_083_200] }, { timeField: 'when' })
    expect(named.offsets.length).toBe(2)
  })
})
