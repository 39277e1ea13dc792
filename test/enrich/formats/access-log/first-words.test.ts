import { describe, expect, it } from 'vitest'
import type { EnrichOptions } from '../../../../src/enrich/formats/formats.ts'
import { run, text } from '../../world.ts'

const REST = '- - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 12'
const MAIN = '- - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 12 "-" "curl"'

const outcome = (lines: readonly string[], options: EnrichOptions = {}): string => {
  try {
    const { notes, output } = run(`${lines.join('\n')}\n`, options)
    return `${notes.at(-1)} | ${text(output).match(/"ip":"[^"]*"/g)?.[0]}`
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
}

describe('an access log whose lines begin with two addresses', () => {
  const lines = [`81.2.69.142 52.95.110.1 ${REST}`, `89.160.20.112 52.95.110.1 ${REST}`]

  it.each<[string, EnrichOptions]>([
    ['nothing is named', {}],
    ['the guess is named', { field: 'ip' }],
    ['the part after the user agent is named', { field: 'x_forwarded_for', trustedProxies: ['loopback'] }],
  ])('is refused with both choices if %s', (_, options) => {
    expect(outcome(lines, options)).toMatch(
      /begin with two addresses, for example "81.2.69.142 52.95.110.1", .* --field 1 or --field 2$/,
    )
  })

  it('is said to begin with a name if it does', () => {
    const named = ['a', 'b'].map((name) => `${name}.example.org 52.95.110.1 ${REST}`)
    expect(outcome(named)).toContain(
      'begin with a name and an address, for example "a.example.org 52.95.110.1"',
    )
  })

  it('has no forwarded addresses to name', () => {
    const named = { field: 'x_forwarded_for', trustedProxies: ['loopback'] }
    expect(outcome([`81.2.69.142 - ${REST}`], named)).toMatch(/leave out --field, or continue with --force/)
    expect(outcome([`81.2.69.142 - ${REST}`], { ...named, force: true })).toContain('"ip":"81.2.69.142"')
  })

  it('is read as --field says', () => {
    expect(outcome(lines, { field: '1' })).toBe('the address is the first word | "ip":"81.2.69.142"')
    expect(outcome(lines, { field: '2' })).toContain(
      'the second word, after the virtual host | "ip":"52.95.110.1"',
    )
  })

  it.each([
    ['a list of hops and a proxy', [`81.2.69.142, 10.0.0.1 10.0.0.2 ${REST}`, `- 10.0.0.2 ${REST}`]],
    ['an address with a port', [`81.2.69.142:80 10.0.0.2 ${REST}`]],
    [
      'names of clients, found by their addresses',
      [`a.example.org 52.95.110.1 ${REST}`, `b.example.org 52.95.110.1 ${REST}`],
    ],
    [
      'some names and some addresses',
      [`a.example.org 52.95.110.1 ${REST}`, `81.2.69.142 52.95.110.1 ${REST}`],
    ],
  ])('is refused too with %s', (_, refused) => {
    expect(outcome(refused)).toMatch(/--field 1 or --field 2$/)
  })

  it('is read with virtual hosts, as before', () => {
    const hosts = [`www.example.org:443 81.2.69.142 ${REST}`, `www.example.org:443 89.160.20.112 ${REST}`]
    expect(outcome(hosts)).toContain('second word, after the virtual host | "ip":"81.2.69.142"')
  })
})

describe('an access log in which some lines have a virtual host', () => {
  const [first, second] = ['81.2.69.142', '89.160.20.112']
  const hosted = (ip: string): string => `www.example.org:443 ${ip} ${REST}`
  const lastOf = (lines: readonly string[], options: EnrichOptions = {}): string =>
    text(run(`${lines.join('\n')}\n`, options).output)
      .trimEnd()
      .split('\n')
      .at(-1) ?? ''

  it.each([
    [
      'later',
      [`${first} ${REST}`, `${first} ${REST}`, hosted(second)],
      `{"vhost":"www.example.org:443","ip":"${second}"`,
    ],
    ['at first', [hosted(first), hosted(first), `${second} ${REST}`], `{"ip":"${second}"`],
  ])('is read where they have it %s', (_, lines, start) => {
    expect(lastOf(lines)).toContain(start)
    expect(lastOf(lines)).toContain(`"location":{"ip":"${second}"`)
    for (const append of [true, false])
      expect(run(`${lines.join('\n')}\n`, { append }).counts.resolved).toBe(3)
  })

  it('keeps the word that is named', () => {
    const last = lastOf([`${first} ${REST}`, hosted(second)], { field: '1' })
    expect(last).toContain('"ip":"www.example.org:443"')
    expect(last).toContain('"location":null')
  })

  it('does not take the identity that a client claims', () => {
    const claimed = `host.example.org ${second} bob ${REST.slice(4)}`
    expect(lastOf([`${first} ${REST}`, `${first} ${REST}`, claimed])).toContain('"location":null')
  })

  it.each(['-', 'host.example.org'])('does not take a virtual host for the client %s', (client) => {
    expect(lastOf([hosted(first), hosted(first), `${second} ${client} ${REST}`])).toContain('"location":null')
  })
})

describe('an access log of a server behind a proxy', () => {
  it('says what to type for the clients, which works', () => {
    const lines = [`10.0.0.1 ${MAIN} "81.2.69.142"`, `10.0.0.1 ${MAIN} "9.9.9.9, 10.1.1.1"`]
    expect(outcome(lines)).toMatch(
      /To locate their clients: --field x_forwarded_for --trust loopback,uniquelocal \|/,
    )
    const { counts } = run(`${lines.join('\n')}\n`, {
      field: 'x_forwarded_for',
      trustedProxies: ['loopback', 'uniquelocal'],
    })
    expect([counts.resolved, counts.failed]).toEqual([1, { 'not-found': 1 }])
  })

  it('says that public addresses can be those of proxies, if most lines have a list', () => {
    const note = /most lines have a list of forwarded addresses too.*--field x_forwarded_for --trust/
    const line = (list: string): string => `172.64.1.1 ${MAIN} "${list}"`
    expect(outcome([line('81.2.69.142'), line('9.9.9.9, 8.8.8.8')])).toMatch(note)
    expect(outcome([line('81.2.69.142'), line('-'), line('-')])).not.toMatch(note)
  })

  it.each([
    ['the user', '- 81.2.69.142'],
    ['the identity, in parentheses', '(81.2.69.142) -'],
  ])('says that most lines have another address in the place of %s', (_, words) => {
    const lines = [`172.64.1.1 ${words} ${MAIN.slice(4)}`, `172.64.1.1 ${words} ${MAIN.slice(4)}`]
    expect(outcome(lines)).toMatch(
      /another address before the time, for example 81.2.69.142. .* --log-format/,
    )
    const logFormat = `$proxy ${words.replace('81.2.69.142', '$remote_addr')} [$time_local] "$request" $status $bytes "$referrer" "$agent"`
    const { output } = run(`${lines.join('\n')}\n`, { logFormat })
    expect(text(output)).toContain('"city":"London"')
    expect(outcome([`172.64.1.1 - bob ${MAIN.slice(4)}`])).toMatch(/^the address is the first word/)
  })

  it('says nothing without such a part, or if the clients are private too', () => {
    const after = MAIN.slice(4)
    expect(outcome([`81.2.69.142 - 81.2.69.142 ${after}`])).toMatch(/^the address is the first word \|/)
    expect(outcome([`172.64.1.1 - 81.2.69.142, 9.9.9.9 ${after}`])).toMatch(/another address before the time/)
    expect(outcome([`10.0.0.1 ${MAIN}`])).toBe('the address is the first word | "ip":"10.0.0.1"')
    expect(outcome([`10.0.0.1 ${MAIN} "10.0.0.9"`])).toMatch(/^the address is the first word/)
  })

  it('says how to read lists in the first word', () => {
    expect(outcome([`81.2.69.142, 10.0.0.1 ${REST}`])).toMatch(/as in --trust loopback,uniquelocal/)
  })
})
