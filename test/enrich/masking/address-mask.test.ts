import { createHmac } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteSink } from '../../../src/bytes/byte-sink.ts'
import { AddressMask, type MaskPlan } from '../../../src/enrich/masking/address-mask.ts'
import { tableOf } from '../../table-of.ts'
import { utf8 } from '../world.ts'

const KEPT: MaskPlan = { mask: null, dropAddress: false, pseudonymKey: null }
const MASK: MaskPlan = { ...KEPT, mask: [24, 48] }
const DROP: MaskPlan = { ...KEPT, dropAddress: true }
const KEY = new Uint8Array(32).fill(7)
const NAME: MaskPlan = { ...KEPT, pseudonymKey: KEY }

function masked(text: string, plan = MASK): string {
  const out = new ByteSink(0)
  const bytes = utf8(text)
  AddressMask.of(plan)?.write(bytes, 0, bytes.length, out)
  return new TextDecoder().decode(out.take())
}

/** The name of an address, as anyone with the key and OpenSSL computes it. */
const nameOf = (address: string): string =>
  `ip-${createHmac('sha256', KEY).update(address).digest('hex').slice(0, 20)}`

describe('what is masked', () => {
  it.each([
    ...tableOf(import.meta.dirname, 'masked.tsv'),
    ['\u001b[31m81.2.69.142\u001b[0m', '\u001b[31m81.2.69.0\u001b[0m'],
  ])('%j', (text, expected) => {
    expect(masked(text)).toBe(expected)
    expect(masked(`a ${text}\nb ${text} c\n`)).toBe(`a ${expected}\nb ${expected} c\n`)
  })

  it.each([
    ['12:30:45', '2026-07-01T12:00:00Z', '01/Jul/2026:12:00:00 +0000', '2026-11-24 12-30-45'],
    ['Chrome/120.0.0.0 Safari/537.36', 'Chrome\\/120.0.0.0'],
    ['1.3.6.1.4.1.311', '10.0.19041.1', '1.2.3', '256.1.1.1', '1.2.3.4567', '51.5142,-0.0931'],
    [
      '24.11.2026',
      '11.24.1999',
      '1.2.65536',
      '10_15_7',
      'a,1,2,3,4',
      '1,2,3,4\n5,6,7,8',
      '[1,2,3,4]',
      ' 1,2,3,4,5',
    ],
    ['202611241030', 'a202611241030', '081002069142', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'],
    ['00:1A:2B:3C:4D:5E', '16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48', 'std::string', 'foo :: bar'],
    // The second backslash is escaped, and not the character after it.
    ['"\\\\u0038\\\\u0031\\\\u002e2"', '100%', '%zz', '\\', '#', 'C:\\Users', '%2', '\\u00', '#01'],
    ['b-2001.example', '12-34-56-78', '-', '', '\u00e9\u00e8 \u4e2d:\u6587'],
  ])('leaves %j', (...texts) => {
    for (const text of texts) expect(masked(text, DROP)).toBe(text)
  })

  it('keeps as many bits as the plan says', () => {
    const plan = (ipv4: number, ipv6: number): MaskPlan => ({ ...KEPT, mask: [ipv4, ipv6] })
    expect(masked('81.2.69.142 2001:db8:1234:5678::9', plan(16, 32))).toBe('81.2.0.0 2001:db8::')
    expect(masked('81.2.69.142 2001:db8:1234:5678::9', plan(31, 60))).toBe('81.2.69.142 2001:db8:1234:5670::')
    expect(masked('81.2.69.142 2001:db8:1234:5678::9', plan(0, 0))).toBe('0.0.0.0 ::')
    expect(masked('64:ff9b::81.2.69.142', plan(16, 127))).toBe('64:ff9b::5102:0')
    expect(masked('2001:0:c000:201:0:0:aefd:ba71', plan(8, 120))).toBe('2001:0:c000:201::ae00:0')
  })

  it('drops addresses', () => {
    expect(masked('81.2.69.142:443 [2001:db8::1]:80 x', DROP)).toBe('-:443 [-]:80 x')
  })

  it('gives an address one name, which openssl dgst -hmac computes too', () => {
    expect(masked('81.2.69.142 ::ffff:81.2.69.142 2001:DB8:0::1', NAME)).toBe(
      `${nameOf('81.2.69.142')} ${nameOf('81.2.69.142')} ${nameOf('2001:db8::1')}`,
    )
    const other = { ...KEPT, pseudonymKey: new Uint8Array(32).fill(8) }
    expect(masked('81.2.69.142', other)).not.toBe(masked('81.2.69.142', NAME))
  })
})

/** An address in one of the spellings that are searched. */
const octet = fc.integer({ min: 0, max: 255 })
const ipv4 = fc
  .tuple(fc.integer({ min: 1, max: 223 }), octet, octet, fc.integer({ min: 1, max: 255 }))
  .map((octets) => octets.join('.'))
const group = fc.integer({ min: 0x1000, max: 0xffff }).map((value) => value.toString(16))
const ipv6 = fc
  .tuple(
    fc.constantFrom('2001', '2a00', '3fff', 'fd00', 'fe80'),
    fc.array(group, { minLength: 7, maxLength: 7 }),
  )
  .chain(([first, others]) =>
    fc.constantFrom(
      [first, ...others].join(':'),
      `${first}::${others[6]}`,
      `${first}:${others[0]}::${others[5]}:${others[6]}`,
    ),
  )
/** Each character as it is, or as an escape. */
const ESCAPES = [
  (_: string, character: string) => character,
  (code: string) => `%${code}`,
  (code: string) => `\\u00${code}`,
  (code: string) => `\\x${code}`,
]
const escaped = (text: string): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom(0, 0, 1, 2, 3), { minLength: text.length, maxLength: text.length })
    .map((kinds) =>
      [...text]
        .map((each, index) =>
          ESCAPES[kinds[index] ?? 0]?.(each.charCodeAt(0).toString(16).padStart(2, '0'), each),
        )
        .join(''),
    )
const spelled = (address: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  address
    .chain((text) => fc.constantFrom(text, text.toUpperCase(), isIPv4(text) ? `::ffff:${text}` : text))
    .chain((text) => fc.oneof(fc.constant(text), escaped(text)))
/** Text without digits that could become a part of an address. */
const around = fc.constantFrom(
  ' ',
  '"',
  ', ',
  '[',
  ']:80 ',
  ':80 ',
  '=',
  '(',
  ') ',
  ' "-" ',
  '\t',
  '|',
  '\n',
  '/',
  ' é ',
)

/** Reads the text as the programs do that wrote it, and looks for what is an address by Node's parser. */
function addressesIn(text: string): string[] {
  const plain = text
    .replace(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\u00([0-9a-f]{2})|\\x([0-9a-f]{2})/gi, (_, one, two) =>
      String.fromCharCode(Number.parseInt(one ?? two, 16)),
    )
  const tokens = plain.split(/[^0-9a-fA-F:.]+/)
  return tokens
    .flatMap((token) => [token, token.replace(/:\d+$/, ''), token.replace(/^.*:(?=\d+(\.\d+){3}$)/, '')])
    .filter((token) => isIPv4(token) || isIPv6(token))
}

describe('a long run of colons', () => {
  it('has its address masked wherever the address is', () => {
    for (let before = 220; before < 270; before++) {
      for (const address of ['2a02:ff0:10::1', '2a02:1:2:3:4:5:6:7', '::ffff:81.2.69.142']) {
        const text = `${'a:'.repeat(before / 2)}${address} a:${'f'.repeat(before)}:${address}:${address}`
        expect(masked(text, DROP), text).not.toMatch(/ff0|6:7|69/)
      }
    }
  })
})

describe('the output', () => {
  it('has no address of the input, in any spelling', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(around, spelled(fc.oneof(ipv4, ipv6)), around), { maxLength: 6 }),
        (parts) => {
          const input = parts.flat().join('')
          const found = addressesIn(masked(input, DROP)).filter((address) => address !== '::')
          expect(found).toEqual([])
          expect(addressesIn(masked(input, NAME)).filter((address) => address !== '::')).toEqual([])
          for (const address of addressesIn(masked(input, MASK)))
            if (isIPv4(address)) expect(address).toMatch(/\.0$/)
        },
      ),
    )
  })

  it('is the input where the input has no address', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'abz019 .:%\\ux"/-#\n') }), (text) => {
        fc.pre(
          addressesIn(text).length === 0 && !/\d+[.-]\d+[.-]\d+[.-]\d+/.test(text.replace(/[%\\#].*/s, '')),
        )
        fc.pre(!/::|(:.*){7}|[%\\#]/.test(text))
        expect(masked(text, DROP)).toBe(text)
      }),
    )
  })
})

describe('a line in pieces', () => {
  it('has no part of an address where two pieces meet', () => {
    const escaped = '81.2.69.142'.replace(/./g, (each) => `\\u00${each.charCodeAt(0).toString(16)}`)
    const line = utf8(
      `GET 81.2.69.142 "2001:db8:1:2::7" 2001%3adb8%3a1%3a2%3a%3a7 ８１．２．６９．１４２ ${escaped} end`,
    )
    for (let cut = 1; cut < line.length; cut++) {
      const out = new ByteSink(0)
      const mask = AddressMask.of(DROP)
      mask?.writePiece(line.subarray(0, cut), true, false, out)
      mask?.writePiece(line.subarray(cut), false, true, out)
      const text = new TextDecoder().decode(out.take())
      expect(text).not.toMatch(/\d{2}|db8|[０-９]{2}/)
    }
  })
})
