// The formats that GoAccess predefines, and lines of servers, mail programs and logins: each is read without a flag. A format
// that takes the lines of another program for its own reads the wrong word.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { enrichBytes, enrichText, utf8 } from '../world.ts'

const IP = '81.2.69.142'
const OTHER = '89.160.20.112'

/**
 * From the documents of each program, with one public address, and with that of the sender or the server where such lines have
 * one. The programs in capitals are formats of GoAccess.
 */
const LINES = readFileSync(join(import.meta.dirname, 'known-programs.ndjson'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((row): { program: string; format: string; lines: string } => JSON.parse(row))

describe('the lines', () => {
  it.each(LINES)('of $program are $format, one and many, and are located', ({ format, lines }) => {
    const head = lines.slice(0, lines.lastIndexOf('\n') + 1)
    const line = `${lines.slice(head.length)}\n`
    const other = line.replaceAll(IP, OTHER).replaceAll('12:00:00', '12:00:07')
    for (const [count, input] of [
      [1, head + line],
      [60, head + (line + other).repeat(30)],
    ] as const) {
      const { plan, counts, output } = enrichBytes(utf8(input), { at: Date.UTC(2026, 6, 2) })
      expect(plan.format).toBe(format)
      expect(counts).toMatchObject({ resolved: count, bad: 0, failed: {} })
      expect(new TextDecoder().decode(output)).toContain(IP)
    }
    if (format === 'text') expect(enrichText(line, { at: 0 })).toContain('[GB London]')
  })

  it('of an export of Cloud Storage have a time', () => {
    const { lines = '' } = LINES.find(({ program }) => program === 'CLOUDSTORAGE') ?? {}
    expect(enrichBytes(utf8(`${lines}\n`), {}).counts).toMatchObject({ resolved: 1, withoutTime: 0 })
  })

  it('of a load balancer have one address in two members; if these differ, they are refused', () => {
    const line = (other: string) =>
      `{"httpRequest":{"remoteIp":"${IP}"},"jsonPayload":{"remoteIp":"${other}"}}\n`
    const { plan, notes } = enrichBytes(utf8(line(IP).repeat(3)), {})
    expect(plan).toMatchObject({ path: ['httpRequest', 'remoteIp'] })
    expect(notes.join()).toContain('addresses are also in jsonPayload.remoteIp')
    expect(() => enrichBytes(utf8(line(IP).repeat(3) + line('10.0.0.1')), {})).toThrow(/unclear which member/)
  })
})
