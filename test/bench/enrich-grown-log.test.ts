import { readFileSync, statSync, truncateSync, utimesSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { accessLines, generatedLines } from '../../scripts/bench/enrich/access-lines.ts'
import { firstLines, grow, grownLog, inFormat } from '../../scripts/bench/enrich/grown-log.ts'
import { temporaryFolder } from '../temporary.ts'

const COUNT = 25_000
const { lines: original } = accessLines()

const addressOf = (line: string): string => line.slice(0, line.indexOf(' '))

/** Runs of lines from the same address. */
const runsOf = (lines: readonly string[]): number =>
  lines.filter((line, index) => index === 0 || addressOf(line) !== addressOf(lines[index - 1] ?? '')).length

describe('generatedLines', () => {
  it('have the shape of the real log: 10,000 lines, 1,753 addresses, 4,313 bursts, 237 bytes a line', () => {
    const lines = generatedLines()
    expect(lines).toHaveLength(10_000)
    const shape = [
      new Set(lines.map(addressOf)).size / 1753,
      runsOf(lines) / 4313,
      Buffer.byteLength(lines.join('\n')) / 2_370_789,
    ]
    for (const ratio of shape) expect(Math.abs(ratio - 1)).toBeLessThan(0.15)
    expect(lines.some((line) => line.includes('"-" 408'))).toBe(true)
    expect(lines.some((line) => !line.endsWith('"'))).toBe(true)
    expect(generatedLines()).toEqual(lines)
  })
})

describe('grow', () => {
  const lines = [...grow(original, COUNT)]

  it('repeats all but the addresses and the days', () => {
    expect(lines).toHaveLength(COUNT)
    const rest = (line: string) => line.slice(line.indexOf(' ')).replace(/\[\d\d\/\w{3}\/\d{4}:/, '[')
    expect(lines.map(rest)).toEqual(lines.map((_, index) => rest(original[index % original.length] ?? '')))
  })

  it('replaces addresses one by one, so bursts stay, with 5% IPv6', () => {
    expect(runsOf(lines.slice(0, original.length))).toBe(runsOf(original))
    const addresses = new Set(lines.map(addressOf))
    const known = new Set(original.map(addressOf))
    const remainder = new Set(original.slice(0, COUNT % original.length).map(addressOf))
    expect(addresses.size).toBe(2 * known.size + remainder.size)
    const ofIPv6 = [...addresses].filter((address) => address.includes(':')).length / addresses.size
    expect(Math.abs(ofIPv6 - 0.05)).toBeLessThan(0.015)
  })
})

describe('inFormat', () => {
  const line =
    '1.2.3.4 - - [01/Mar/2026:10:05:03 +0000] "GET /a?b=1,2 HTTP/1.1" 404 - "http://x.org/" "Mozilla/5.0 (like Gecko)"'
  const unreadable = line.slice(0, -1)

  it('writes an event of the Elastic Common Schema', () => {
    expect(JSON.parse(inFormat('ndjson', line))).toMatchObject({
      '@timestamp': '2026-03-01T10:05:03.000Z',
      client: { ip: '1.2.3.4' },
      event: { outcome: 'failure' },
      http: { request: { method: 'GET', referrer: 'http://x.org/' }, response: { status_code: 404 } },
      url: { original: '/a?b=1,2' },
    })
    expect(JSON.parse(inFormat('ndjson', unreadable))).toMatchObject({ message: unreadable })
  })

  it('writes a row of CSV', () => {
    const agent = 'Mozilla/5.0 (like Gecko)'
    expect(inFormat('csv', line)).toBe(
      `2026-03-01T10:05:03Z,1.2.3.4,GET,"/a?b=1,2",404,0,http://x.org/,${agent}\n`,
    )
    expect(inFormat('csv', unreadable)).toBe(',1.2.3.4,,,,,,\n')
  })
})

describe('grownLog', () => {
  const folder = temporaryFolder()

  it('writes the lines whole and in halves, and again only if a file is incomplete', async () => {
    const { path, halves } = await grownLog(folder, 'csv', original, 2501)
    const text = firstLines('csv', original, 2501)
    expect(readFileSync(path, 'utf8')).toBe(text)
    const [first, second] = halves.map((half) => readFileSync(half, 'utf8').split('\n'))
    expect([first?.length, second?.length]).toEqual([1250 + 2, 1251 + 2])
    expect(second?.[0]).toBe(text.split('\n')[0])
    expect(second?.slice(1)).toEqual(text.split('\n').slice(1251))

    const longAgo = new Date(0)
    utimesSync(path, longAgo, longAgo)
    await grownLog(folder, 'csv', original, 2501)
    expect(statSync(path).mtimeMs).toBe(0)

    truncateSync(path, 1000)
    await grownLog(folder, 'csv', original, 2501)
    expect(readFileSync(path, 'utf8')).toBe(text)
  })
})
