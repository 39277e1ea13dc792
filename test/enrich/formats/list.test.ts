import { describe, expect, it } from 'vitest'
import { looksLikeList, planList } from '../../../src/enrich/formats/list.ts'
import { bytesOf, enrichBytes, objectsIn, utf8, wholeSample } from '../world.ts'

describe('looksLikeList', () => {
  it.each([
    ['81.2.69.142\n2001:db8::1\n', true],
    ['81.2.69.142', true],
    ['\ufeff 81.2.69.142 \r\n', true],
    ['# a comment\n\n81.2.69.142\n', true],
    ['81.2.69.142\nnonsense\n9.9.9.9\n', true],
    ['', true],
    ['\n\n', true],
    ['ip\n81.2.69.142\n9.9.9.9\n', false],
    ['81.2.69.142\nnonsense\nmore\n', false],
    ['81.2.69.142,5\n', false],
    ['hello\n', false],
  ])('%j: %s', (sample, expected) => {
    expect(looksLikeList(utf8(sample))).toBe(expected)
  })
})

/** Versions of four numbers, of the shapes that programs give them. */
const shaped = (count: number, version: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => `${version(index)}\n`).join('')

describe('versions alone on their lines', () => {
  it.each<[string, string]>([
    ['a reduced version of Chrome', '120.0.0.0\n'],
    ['reduced versions of Chrome, some of which are special addresses', shaped(60, (n) => `${90 + n}.0.0.0`)],
    ['a version of Nextcloud', '29.1.1.0\n'],
    ['a few versions of Nextcloud', '29.1.1.0\n28.0.4.1\n30.0.2.2\n29.0.1.0\n'],
    ['assemblies', shaped(200, (n) => `${(n % 9) + 1}.${n % 10}.${n % 31}.${n % 4}`)],
    ['releases with a build number', shaped(50, (n) => `${(n % 3) + 4}.12.${n % 60}.${(n * 7) % 64}`)],
    ['object identifiers', '1.3.6.1\n2.5.4.3\n2.5.29.17\n1.2.1.4\n'],
    ['versions after a comment', '# installed\n120.0.0.0\n121.0.0.0\n'],
    ['versions with Windows line ends and blanks', ' 120.0.0.0\r\n 121.0.0.0\r\n'],
    ['versions after a few addresses', `81.2.69.142\n${shaped(20, (n) => `${100 + n}.0.0.0`)}`],
    ['versions below a header', `version\n${shaped(20, (n) => `${100 + n}.0.0.0`)}`],
  ])('are no addresses, unless the format is named: %s', (_, input) => {
    expect(() => enrichBytes(utf8(input), {})).toThrow(
      expect.objectContaining({
        code: 'ENRICH_FORMAT_UNKNOWN',
        message: expect.stringMatching(
          /^the lines look like versions, for example "[\d.]+", .* --format list/,
        ),
      }),
    )
    expect(enrichBytes(utf8(input), { format: 'list' }).plan.format).toBe('list')
  })

  it.each<[string, string]>([
    ['one', '81.2.69.142'],
    ['one that people type', '1.2.3.4\n'],
    ['two that people type', '1.2.3.4\n5.6.7.8\n'],
    ['a resolver', '8.8.8.8\n'],
    ['resolvers', '8.8.8.8\n1.1.1.1\n9.9.9.9\n8.8.4.4\n1.0.0.1\n'],
    ['one without its last number, as analytics write it', '81.2.69.0\n'],
    ['such of many hosts', shaped(40, (n) => `${20 + n}.7.${(n * 37) % 256}.0`)],
    ['of private hosts', shaped(40, (n) => `10.0.0.${n + 1}`)],
    ['of IPv6, and one that could be a version', '2001:4860::1\n2001:4860::2\n1.2.0.0\n'],
    ['of many hosts, sorted', shaped(200, (n) => `1.0.${n >> 6}.${(n * 67) % 256}`)],
    [
      'with a few that could be versions',
      `${shaped(30, (n) => `${20 + n}.7.99.${n + 64}`)}120.0.0.0\n4.3.2.0\n`,
    ],
  ])('are not confused with addresses: %s', (_, input) => {
    expect(enrichBytes(utf8(input), {}).plan.format).toBe('list')
  })
})

describe('planList', () => {
  it.each([
    [{ field: 'ip' }, 'ENRICH_FIELD_UNKNOWN'],
    [{ timeField: 'time' }, 'ENRICH_FIELD_UNKNOWN'],
    [{ into: 'ip' }, 'ENRICH_FIELD_EXISTS'],
  ])('refuses %j: %s', (options, code) => {
    expect(() => planList(wholeSample('1.2.3.4'), options)).toThrow(expect.objectContaining({ code }))
  })
})

describe('a list', () => {
  it.each([
    ['1.2.3.4 5.6.7.8', '1.2.3.4 5.6.7.8'],
    ['1.2.3.4,5', '1.2.3.4,5'],
    ['1.2.3.4 # mine', '1.2.3.4 # mine'],
    ['1.2.3.4:99999', '1.2.3.4:99999'],
    ['010.0.0.1', '010.0.0.1'],
    ['"1.2.3.4"', '"1.2.3.4"'],
    ['\x00', '\x00'],
    ['\xff', '\ufffd'],
    ['x'.repeat(5000), 'x'.repeat(5000)],
  ])('has %.40j as a malformed address, which is no bad line', (line, ip) => {
    const { output, counts } = enrichBytes(bytesOf(`${line}\n`), { format: 'list' })
    expect(objectsIn(output)).toEqual([{ ip, location: null }])
    expect(counts).toMatchObject({ bad: 0, failed: { malformed: 1 } })
  })
})
