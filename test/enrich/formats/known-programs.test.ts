// The formats that GoAccess predefines, and lines of servers, mail programs and logins: each is read without a flag. A format
// that takes the lines of another program for its own reads the wrong word.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { enrichBytes, enrichText, utf8 } from '../world.ts'

const IP = '81.2.69.142'
const OTHER = '89.160.20.112'
const SERVER = '216.160.83.56'

/**
 * From the documents of each program, with the address of a client, and that of a server or the sender where such lines have one.
 * The programs in capitals are formats of GoAccess.
 */
const LINES = readFileSync(join(import.meta.dirname, 'known-programs.ndjson'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((row): { program: string; format: string; lines: string } => JSON.parse(row))

describe('the lines', () => {
  /** The countries of the addresses that are taken of each record. */
  const countriesOf = (input: string, format: string): unknown[] => {
    const { plan, counts, output } = enrichBytes(utf8(input), {
      ...{ at: Date.UTC(2026, 6, 2), to: 'ndjson', fields: ['country_code'] },
    })
    expect(plan.format).toBe(format)
    expect(counts).toMatchObject({ bad: 0, failed: {} })
    const objects = new TextDecoder().decode(output).trimEnd().split('\n')
    return objects.map((object) => JSON.parse(object).location.country_code)
  }

  it.each(LINES)(
    'of $program are $format, one and many, and have the client located',
    ({ format, lines }) => {
      const head = lines.slice(0, lines.lastIndexOf('\n') + 1)
      const line = `${lines.slice(head.length)}\n`
      const other = line.replaceAll(IP, OTHER).replaceAll('12:00:00', '12:00:07')
      expect(countriesOf(head + line, format)).toEqual(['GB'])
      expect(countriesOf(head + (line + other).repeat(30), format)).toEqual(
        Array(30).fill(['GB', 'SE']).flat(),
      )
      if (format === 'text') expect(enrichText(line, { at: 0 })).toContain('[GB London]')
    },
  )

  it.each(LINES.filter(({ format, lines }) => format === 'text' && !lines.includes(SERVER)))(
    'of $program have the client located after the public address of a sender',
    ({ lines }) =>
      expect(countriesOf(`Jul  1 12:00:00 ${SERVER} app[7]: ${lines}\n`, 'text')).toEqual(['GB']),
  )

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
