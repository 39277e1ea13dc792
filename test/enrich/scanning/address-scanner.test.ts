import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Address } from '../../../src/address/address.ts'
import { AddressScanner } from '../../../src/enrich/scanning/address-scanner.ts'
import { WHOLE_TOKENS } from '../../../src/enrich/scanning/whole-tokens.ts'
import { tableOf } from '../../table-of.ts'
import { utf8 } from '../world.ts'

/** The addresses in a line, and the tokens that have more than the address. */
function scan(text: string): string[] {
  // Other lines around it must not matter.
  const bytes = utf8(`81.2.69.142${text}\n.9:1`)
  const decoder = new TextDecoder()
  const scanner = new AddressScanner(WHOLE_TOKENS)
  const line = 11
  const end = bytes.length - 5
  const found: string[] = []
  for (let from = line; scanner.next(bytes, line, from, end); from = scanner.tokenEnd) {
    const ip = decoder.decode(bytes.subarray(scanner.start, scanner.end))
    const token = decoder.decode(bytes.subarray(scanner.tokenStart, scanner.tokenEnd))
    found.push(ip === token ? ip : `${ip} in ${token}`)
  }
  return found
}

const V4 = '81.2.69.142'
const V6 = '2001:db8::1'

describe('an address in a line', () => {
  it.each<[line: string, found: string[], where: string]>([
    [V4, [V4], 'alone'],
    [V6, [V6], 'alone'],
    [`${V4} ${V6}\t${V4}`, [V4, V6, V4], 'between blanks'],
    [`"${V4}" '${V6}' \`${V4}\``, [V4, V6, V4], 'in quotes'],
    [`(${V4}) <${V6}> {${V4}} [${V4}]`, [V4, V6, V4, V4], 'in brackets'],
    [`${V4},${V6};${V4}|${V4}`, [V4, V6, V4, V4], 'in a list'],
    [`from=${V4} SRC=${V4} rhost=${V6}`, [V4, V4, V6], 'as a value: sendmail, iptables, PAM'],
    [`"ip":"${V4}","c":"${V6}"`, [V4, V6], 'in JSON'],
    [`client: ${V4}, server: x`, [V4], 'nginx, error log'],
    [`server ${V4} dev ${V4} over ${V4}`, [V4, V4, V4], 'after words that end as names of versions do'],
    [`unknown[${V4}]: SASL unknown[${V6}]: x`, [V4, V6], 'Postfix'],
    [`client @0x7f ${V4}#49152 (a.b): query`, [`${V4} in ${V4}#49152`], 'BIND'],
    [`from ${V4}:50124 [25/Feb/2019:16:19:48.143]`, [`${V4} in ${V4}:50124`], 'HAProxy'],
    [`${V6}:5012 [25/Feb/2019:16:19:48.143] x`, [`${V6} in ${V6}:5012`], 'HAProxy, IPv6'],
    [`${V6}:5012 [25/Feb/2019:16:19:48 +0000] x`, [`${V6}:5012`], 'no port, before another time'],
    [`[client ${V4}:5] AH01797: x`, [`${V4} in ${V4}:5`], 'Apache, error log'],
    [`[${V6}]:443 and ${V6}`, [`${V6} in [${V6}]:443`, V6], 'with a port'],
    [`u@d[${V4}] ${V4}(51234) ${V4}[500]`, [V4, V4, V4], 'PostgreSQL, strongSwan'],
    [`outside:${V4}/443 (${V4}/443)`, [`${V4} in ${V4}/443`, `${V4} in ${V4}/443`], 'a firewall of Cisco'],
    [`L:/${V4}:80 - R:/${V6}`, [`${V4} in ${V4}:80`, V6], 'Netty'],
    [`node (broker/${V4}:9092)`, [`${V4} in ${V4}:9092`], 'Java with a name, here Kafka'],
    [`- HIER_DIRECT/${V4} text/html`, [V4], 'Squid'],
    [`http://${V4}/a https://[${V6}]/a http://u:p@${V4}:80/a`, [V4, V6, `${V4} in ${V4}:80`], 'in URLs'],
    [`GET /?ip=${V4}&x=1 ${V4}%2C`, [V4, V4], 'in a query'],
    [`ipv4:${V4}:80 tcp:${V4}:80`, [`${V4} in ${V4}:80`, `${V4} in ${V4}:80`], 'gRPC'],
    [`client:${V4} access.log:${V6}`, [V4, V6], 'after the name of a field, or of a file by grep'],
    [`10.0.0.1:52025->${V4}:80`, ['10.0.0.1 in 10.0.0.1:52025', `${V4} in ${V4}:80`], 'lsof'],
    [`0.0.0.0:8080->80/tcp :::80`, ['0.0.0.0 in 0.0.0.0:8080'], 'docker ps'],
    [`src=${V4}:443:X1 dst=10.0.0.9:80:WAN`, [`${V4} in ${V4}:443`, '10.0.0.9 in 10.0.0.9:80'], 'SonicWall'],
    [`${V4}:https ${V4}:`, [V4, V4], 'with the name of a port, or in prose'],
    [`From ${V4}. To ${V6}. From ${V6}: x... ${V4}...`, [V4, V6, V6, V4], 'at the end of a sentence'],
    [`root@${V4} sip:100@${V4}:5060`, [V4, `${V4} in ${V4}:5060`], 'of a user'],
    [`\u001b[31m${V4}\u001b[0m \u001b[1;31m${V6}`, [V4, V6], 'in colours'],
    [`“${V4}” 来自${V4}的 ${V6}→`, [V4, V4, V6], 'beside characters that are not ASCII'],
    [`\\"${V4}\\" ${V4}\\n`, [V4, V4], 'in escaped text'],
    [`::1 ::ffff:${V4} 64:ff9b::${V4}`, ['::1', `::ffff:${V4}`, `64:ff9b::${V4}`], 'with zeros'],
    ['0:0:0:0:0:0:0:1 fe80:0:0:0:1:2:3:4', ['0:0:0:0:0:0:0:1', 'fe80:0:0:0:1:2:3:4'], 'written by Java'],
    ['2A02:8071:2B8E:9D00:1C2D:3E4F:5A6B:7C8D', ['2A02:8071:2B8E:9D00:1C2D:3E4F:5A6B:7C8D'], 'in capitals'],
    ['fe80::1%eth0 fd00::1 ff02::fb', ['fe80::1%eth0', 'fd00::1', 'ff02::fb'], 'that is not public'],
    ['listening on [::]:22', [':: in [::]:22'], 'unspecified'],
    [`client:${V6} source:fe80::1`, [V6, 'fe80::1'], 'of IPv6 after the name of a field'],
    [`${V4}/32 ${V6}/128`, [`${V4} in ${V4}/32`, `${V6} in ${V6}/128`], 'that is a network of its own'],
    [`Host: ${V4}/${V4} Port: 1`, [`${V4} in ${V4}/${V4}`], 'after itself as a name, written by Java'],
    [`IP ${V4}.43436 > 10.0.0.7.22: x`, [`${V4} in ${V4}.43436`, '10.0.0.7 in 10.0.0.7.22'], 'tcpdump'],
    [
      `IP6 ${V6}.43436 > ff02::fb.5353: x`,
      [`${V6} in ${V6}.43436`, 'ff02::fb in ff02::fb.5353'],
      'tcpdump, IPv6',
    ],
    [`rate 1/60s for (smtp:${V4}) at`, [V4], 'after a service, Postfix'],
    [`RemoteAddress="IPV4/UDP/${V4}/5071"`, [`${V4} in ${V4}/5071`], 'Asterisk'],
    [`[${V4}:61120-5#Example]`, [`${V4} in ${V4}:61120`], 'with a port and more'],
    [`12:00:00 UTC:${V4}(5432):user@db`, [V4], 'after a time zone: PostgreSQL'],
    [`#033[31m${V4} ^[[0;31m${V4} \\u001b[1m${V4}`, [V4, V4, V4], 'in colours that are escaped'],
    [
      `2a02:ff0:10::1a2b:58430 2a02:1:2:3:4:5:6:7:443`,
      ['2a02:ff0:10::1a2b in 2a02:ff0:10::1a2b:58430', '2a02:1:2:3:4:5:6:7 in 2a02:1:2:3:4:5:6:7:443'],
      'of IPv6 with a port that cannot be a group',
    ],
    ['255.255.255.255 0.0.0.0 1.2.3.4', ['255.255.255.255', '0.0.0.0', '1.2.3.4'], 'the largest'],
  ])('%j has %j: %s', (line, found) => expect(scan(line)).toEqual(found))

  it.each(tableOf(import.meta.dirname, 'no-addresses.tsv'))('is none in %j: %s', (line) =>
    expect(scan(line)).toEqual([]),
  )

  it.each(['2001:', '::', ':', '1.', '.', '1.2.3.4.', '1:', 'a::', '0:', 'f', '2001:db8::1:'])(
    'is not in a mebibyte of %j, which takes no longer than other bytes',
    (piece) => expect(scan(piece.repeat(2 ** 20 / piece.length))).toEqual([]),
  )

  it('is not read beyond the line', () => {
    const bytes = utf8('x 81.2.69.142\n')
    const scanner = new AddressScanner(WHOLE_TOKENS)
    expect(scanner.next(bytes, 0, 0, 12)).toBe(true)
    expect(scanner.end).toBe(12)
    expect(scanner.next(bytes, 0, 0, 8)).toBe(false)
  })
})

/**
 * The rules as expressions, slowly: tries every text of the line that can be an address, and looks at what is before and
 * after it.
 */
function reference(line: string): string[] {
  const address = new Address()
  const found: string[] = []
  const isBefore = (before: string, after: string): boolean => {
    if (/(?:.\[[\d;]{1,16}|␛\[)m$/.test(before.replaceAll('\u001b', '␛'))) return true
    if (/(?:[\w.+~^#%\\]|(?<!<)-|[=<>!~^]=|[~^]>|::|\\\/)$/.test(before)) return false
    if (/(?:version|(?<![A-Za-z])v)[ \t"'=:([{]{0,4}$/i.test(before)) return false
    const slash = /(^|[^\w.-])([\w.-]+)\/$/.exec(before)
    if (slash !== null) {
      if (/[/\\]/.test(slash[1] ?? '')) return false
      if (/^(?:\(\d{1,5}\)(?:\([^)]*\))? (?:-> |hit-cnt )| to (?:TCP|UDP) port)/.test(after)) return true
      return /(?:^|_)DIRECT$/.test(slash[2] ?? '') || /^:\d/.test(after)
    }
    const label = /([\w.-]*\w):$/.exec(before)?.[1]
    if (label === undefined || /(?:client|host|tcp)$/i.test(label)) return true
    return !/\d$/.test(label) && /^[:#/@]\d/.test(after)
  }
  const portAfter = (before: string, after: string): string | null => {
    const port = /^[:#@](\d+)/.exec(after) ??
      (/\/\/$/.test(before) ? null : /^\/(\d+)/.exec(after)) ?? ['', '']
    const rest = after.slice(port[0].length)
    if (port[0] !== '') {
      const number = Number(port[1])
      if ((port[1] ?? '').length > 5 || number > 65_535 || (port[0].startsWith('/') && number <= 128))
        return null
      return /^(?:\w|\.+[\w*-]|:\d|:[\w-]*:)/.test(rest) ? null : port[0]
    }
    if (/^\//.test(after)) return /\/\/$/.test(before) || !/^\/[\w.]/.test(after) ? '' : null
    if (/^\\/.test(after)) return /^\\["'nrt\\]/.test(after) ? '' : null
    if (/^%/.test(after)) return /^%[\da-f]{2}/i.test(after) ? '' : null
    return /^(?:\w|\.+[\w*-]|[-+~@]\w|[:#][\w-]+:\w)/.test(after) ? null : ''
  }
  for (let at = 0; at < line.length; ) {
    const before = line.slice(0, at)
    const isWithin = /[\d.]$/.test(before) && /^[\d.]/.test(line.slice(at))
    const ipv4 = isWithin ? null : /^\d{1,3}(?:\.\d{1,3}){3}(?!\d)/.exec(line.slice(at))
    const ipv6 = /^[\da-f:]*:[\da-f:.]*/i.exec(line.slice(at))
    const whole = longestIPv6(ipv6?.[0] ?? '', (text) => address.parse(text))
    const zone = /^%[\w.~-]*/.exec(line.slice(at + whole.length))?.[0] ?? ''
    const texts = [whole + zone, ipv4?.[0] ?? ''].filter((text) => text !== '' && address.parse(text))
    const text = texts.find((each) => {
      address.parse(each)
      const after = line.slice(at + each.length)
      if (each.includes(':') && !isOfHost(address.words, each, before, after)) return false
      const isBracketed = before.endsWith('[') && /^\]:\d/.test(after)
      const port = portAfter(before, isBracketed ? after.slice(1) : after)
      return port !== null && isBefore(before, isBracketed ? after.slice(1) : after)
    })
    if (text === undefined) at++
    else {
      const after = line.slice(at + text.length)
      const isBracketed = text.includes(':') && before.endsWith('[') && /^\]:\d/.test(after)
      const port = portAfter(before, isBracketed ? after.slice(1) : after) ?? ''
      const token = isBracketed ? `[${text}]${port}` : text + port
      found.push(text === token ? text : `${text} in ${token}`)
      at += text.length + (isBracketed ? 1 : 0) + port.length
    }
  }
  return found
}

/** The longest address that a run of groups begins with, unless more groups follow that are not a port; '' without one. */
function longestIPv6(run: string, isAddress: (text: string) => boolean): string {
  const starts = Array.from({ length: run.length }, (_, index) => run.slice(0, run.length - index))
  const found = starts.find((text) => isAddress(text) && !/^[\da-f]/i.test(run.slice(text.length))) ?? ''
  const after = run.slice(found.length)
  return /^:[:a-f]/i.test(after) || (found.endsWith(':') && after.startsWith(':')) ? '' : found
}

/** Whether an address of IPv6 is of a kind that hosts have. @param words of the address */
function isOfHost(words: Uint32Array, text: string, before: string, after: string): boolean {
  const hex = [...words].map((word) => word.toString(16).padStart(8, '0')).join('')
  if (/^(?:[23]|f[cdf]|fe[89ab])/.test(hex)) return /^[^:]{4}:/.test(text)
  if (/^0064ff9b0{16}/.test(hex)) return true
  if (/^0{32}$/.test(hex)) return before.endsWith('[') && after.startsWith(']')
  return /^0{31}1$/.test(hex) || (/^0{16}/.test(hex) && text.includes('.'))
}

const WORDS = 'client host nginx tcp version v DIRECT a f x_ 80 443 1 0 65536 (80)'
const MARKS = '. .. : : :: / // - -> <- = == > [ ] ( ) " , @ # % %2C %eth0 + ~ ^ \\ \\" \\n * m é _ &'
const pieces = fc.constantFrom(
  ...`${V4} ${V6} 1.2.3.4 10.0.0.1 ::1 :: fe80::1 2a02:1:2:3:4:5:6:7 ::ffff:1.2.3.4 64:ff9b::1`.split(' '),
  ...[...WORDS.split(' '), ...MARKS.split(' '), ' ', ' ', '\t', '\u001b[31m', ' to TCP port', ' -> '],
)

describe('a line of pieces', () => {
  it('has the addresses that slow expressions find in it', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
        const line = parts.join('')
        // The name of a host that is its address is in the table above.
        fc.pre(!/([\da-f:.]{3,})\/\1/i.test(line))
        expect(scan(line)).toEqual(reference(line))
      }),
      { numRuns: 5000 },
    )
  })

  it('has all addresses between blanks, in their order, at any offset', () => {
    const group = fc.nat(0xffff).map((value) => value.toString(16))
    const ipv6 = fc.array(group, { minLength: 7, maxLength: 7 }).map((groups) => `2001:${groups.join(':')}`)
    const address = fc.oneof(fc.ipV4(), ipv6)
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.stringMatching(/^[k-p ]{0,9}$/), address), { maxLength: 6 }),
        (parts) => {
          const line = parts.map(([words, ip]) => `${words} ${ip}`).join(' ')
          expect(scan(line)).toEqual(parts.map(([, ip]) => ip))
        },
      ),
    )
  })
})
