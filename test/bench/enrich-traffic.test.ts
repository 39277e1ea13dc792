import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { isReachable } from '../../scripts/bench/addresses.ts'
import { firstLines, type TrafficFormat, traffic, trafficFile } from '../../scripts/bench/enrich/traffic.ts'

const COUNT = 20_000

/** The address in a complete line, otherwise `undefined`. */
const READ: Record<TrafficFormat, (line: string) => unknown> = {
  ndjson: (line) => {
    const event: Record<string, unknown> = JSON.parse(line)
    expect(Object.keys(event)).toEqual(['id', 'client_ip', 'ts', 'path', 'ms', 'ok', 'user'])
    expect(Date.parse(String(event.ts))).toBeGreaterThanOrEqual(Date.UTC(2024, 5, 1))
    return event.client_ip
  },
  'access-log': (line) => {
    const combined =
      /^(\S+) - \S+ \[\d\d\/Jun\/2024:\d\d:\d\d:\d\d \+0000\] "\w+ \S+ HTTP\/1\.1" \d{3} (?:\d+|-) "[^"]+" "[^"]+"$/
    return combined.exec(line)?.[1]
  },
}

describe.each([
  ['ndjson', 130],
  ['access-log', 200],
] as const)('traffic as %s', (format, size) => {
  const lines = [...traffic(format, COUNT)]

  it(`has the requested number of lines, of about ${size} bytes`, () => {
    expect(lines).toHaveLength(COUNT)
    expect(lines.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true)
    const mean = Buffer.byteLength(lines.join('')) / COUNT
    expect(Math.abs(mean - size)).toBeLessThan(3)
  })

  it('has a globally reachable address in each line, and repeats few most of the time', () => {
    const addresses = lines.map((line) => String(READ[format](line.trimEnd())))
    const distinct = new Set(addresses)
    expect([...distinct].filter((ip) => !isReachable(ip))).toEqual([])
    // A uniform choice from 50,000 would give 16,500.
    expect(distinct.size).toBeGreaterThan(8000)
    expect(distinct.size).toBeLessThan(14_000)
  })

  it('is the same each time', () => {
    expect([...traffic(format, COUNT)]).toEqual(lines)
    expect(firstLines(format, 10, COUNT)).toBe(lines.slice(0, 10).join(''))
  })
})

describe('trafficFile', () => {
  const folder = mkdtempSync(join(tmpdir(), 'geofix-bench-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('writes the lines uncompressed and compressed, and again only if a file is incomplete', async () => {
    const { path, packed } = await trafficFile(folder, 'ndjson', 2500)
    const text = [...traffic('ndjson', 2500)].join('')
    expect(readFileSync(path, 'utf8')).toBe(text)
    expect(gunzipSync(readFileSync(packed)).toString()).toBe(text)

    const longAgo = new Date(0)
    utimesSync(path, longAgo, longAgo)
    await trafficFile(folder, 'ndjson', 2500)
    expect(statSync(path).mtimeMs).toBe(0)

    truncateSync(path, 1000)
    await trafficFile(folder, 'ndjson', 2500)
    expect(readFileSync(path, 'utf8')).toBe(text)
  })
})
