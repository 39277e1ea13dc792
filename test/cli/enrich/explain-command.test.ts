// geofix enrich --explain: how the inputs would be read, and no output.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FORMAT_DEFINITIONS } from '../../../src/enrich/formats/all-formats.ts'
import { failure, geofix, ndjson, printed, workspace } from './command-line.ts'

const { folder, file, enrich: withDatabase } = workspace()
const explain = (...args: string[]) => withDatabase(['--explain', ...args])

const ACCESS = '81.2.69.142 - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 9'

describe('geofix enrich --explain', () => {
  it('prints the format, the field, the first lines with a location and how many there are', async () => {
    const path = file('events.ndjson', ndjson(100_000))
    const out = await printed(explain(path))
    const [title, field, facts = '', ...lines] = out.trimEnd().split('\n')
    expect(title).toBe(`${path}: the format is ndjson`)
    expect(field).toBe('  the address is in ip')
    expect(facts).toMatch(
      /^ {2}the first [\d,]+ lines: [\d,]+ with a location, 0 with a time, [\d,]+ private$/,
    )
    expect(lines).toHaveLength(3)
    const [first, , third] = lines.map((line): unknown => JSON.parse(line))
    expect(first).toMatchObject({ id: 0, location: { city: 'London' } })
    // The third line has a private address.
    expect(third).toMatchObject({ id: 3 })
  })

  it('prints the header of a table with the new columns, before its lines', async () => {
    const path = file('visits.csv', 'time,client_ip\n2026-07-01T12:00:00Z,81.2.69.142\n')
    const { out } = await explain(path, '--fields', 'city,timezone_offset')
    expect(out).toBe(
      `${path}: the format is csv\n  the address is in column 2, client_ip\n  the time of the event is in column 1, time\n  the first line: 1 with a location, 1 with a time\n  time,client_ip,city,timezone_offset\n  2026-07-01T12:00:00Z,81.2.69.142,London,+01:00\n`,
    )
  })

  it('prints records that are shorter than others on lines of their own', async () => {
    const { out } = await explain(
      file('short.log', `${ACCESS}\r\n${ACCESS}\r\nx\r\n`),
      '--append',
      '--fields',
      'city',
    )
    expect(out).toMatch(/(\n {2}81\.2\.69\.142 [^\n]*\tLondon){2}\n {2}x\n$/)
  })

  it('makes objects of a document whose objects do not all stay, as the run does', async () => {
    const path = file('document.json', '[{"ip":"81.2.69.142"}]')
    expect(await explain(path, '--to', 'json', '--only-failed')).toMatchObject({ status: 0, err: '' })
  })

  it('names what is written around lines', async () => {
    const path = file('pod.log', `2026-07-01T12:00:00Z stdout F ${ACCESS}\n`.repeat(3))
    const { out } = await explain(path, '--append', '--fields', 'city')
    expect(out).toContain(
      ': the format is access-log\n  each line comes after a prefix that a container runtime writes',
    )
    expect(out).toContain(`  2026-07-01T12:00:00Z stdout F ${ACCESS}\tLondon\n`)
  })

  it('takes several inputs, and standard input, of which only the start is read', async () => {
    let pieces = 0
    async function* endless() {
      for (; pieces < 100_000; pieces++) yield ndjson(1000)
    }
    const path = file('access.log', `${ACCESS}\n`)
    const out = await printed(withDatabase(['--explain', path, '-'], endless()))
    expect(out).toContain(`${path}: the format is access-log`)
    expect(out).toContain('standard input: the format is ndjson')
    expect(pieces).toBeLessThan(1000)
  })

  it('fails as the run would', async () => {
    const unclear = file('unclear.csv', 'a,b\n1.2.3.4,5.6.7.8\n')
    expect(await explain(unclear)).toEqual(failure(1, '--field'))
    expect(await explain(join(folder, 'nothing.log'))).toMatchObject({ status: 4, out: '' })
    const log = file('few.log', `${ACCESS}\n`)
    expect(await explain(log, '--nth', '2')).toEqual(failure(2, '--nth is for text'))
  })

  it.each([
    ['-o', 'out.ndjson'],
    ['--summary', 'html=r.html'],
    ['--stats', 'json'],
  ])('refuses %s, and writes no file', async (flag, value) => {
    const before = readdirSync(folder)
    expect(await explain(flag, value, join(folder, 'access.log'))).toEqual(
      failure(2, '--explain writes no lines'),
    )
    expect(readdirSync(folder)).toEqual(before)
  })

  it('prints nothing that moves a cursor, and cuts long lines', async () => {
    const path = file('odd.ndjson', `{"a":"\u202e${'x'.repeat(5000)}","ip":"81.2.69.142"}\n`)
    const { out } = await explain(path)
    expect(out).not.toContain('\u202e')
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThan(2100)
  })
})

it('geofix formats prints each format with its example', async () => {
  const out = await printed(geofix(['formats']))
  const parts = out.trimEnd().split('\n\n')
  expect(parts).toHaveLength(FORMAT_DEFINITIONS.length)
  FORMAT_DEFINITIONS.forEach(({ name, title, example }, index) => {
    const [first, ...lines] = parts[index]?.split('\n') ?? []
    expect(first?.split(/ {2,}/)).toEqual([name, title])
    expect(lines.map((line) => line.slice(12))).toEqual(example.split('\n'))
  })
})
