// Lines in a member of each object, as Docker and journald write them.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type EnrichOptions, makePlan } from '../../../../src/enrich/formats/formats.ts'
import { effort } from '../../../effort.ts'
import { enrichBytes, enrichText, utf8 } from '../../world.ts'

const IP = '81.2.69.142'
const ACCESS = `${IP} - - [01/Jul/2026:14:00:00 +0200] "GET /?next=8.8.8.8 HTTP/1.1" 200 9`
const SSHD = `Failed password for root from ${IP} port 22 ssh2`

type Wrap = (line: unknown) => string

const docker: Wrap = (log) => JSON.stringify({ log, stream: 'stdout', time: '2026-07-01T12:00:00.5Z' })
const journald: Wrap = (MESSAGE) =>
  JSON.stringify({ _HOSTNAME: 'h', __REALTIME_TIMESTAMP: '1782907200500000', MESSAGE, _PID: '7' })

const WRAPS: readonly [name: string, member: string, wrap: Wrap][] = [
  ['docker', 'log', docker],
  ['journald', 'MESSAGE', journald],
]

/** The location of each line of an output of objects; `undefined` for an object without that member. */
function locations(output: string): unknown[] {
  return output
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { location?: unknown }).location)
}

describe.each(WRAPS)('objects that %s writes', (wrapper, member, wrap) => {
  it.each([
    ['access-log', `${ACCESS}\n`],
    ['ndjson', `{"client_ip":"${IP}","server":"8.8.8.8"}\n`],
    ['text', `${SSHD}\n`],
  ])('have lines of the format %s, and keep all that they have', (format, line) => {
    const input = wrap(line)
    const { plan, notes } = makePlan(utf8(`${input}\n`), true, {})
    expect(plan).toMatchObject({ format: 'ndjson', inside: { format } })
    expect(notes.join('\n')).toContain(
      `each object has a line in "${member}", as ${wrapper} writes it; the format of the lines is ${format}`,
    )
    const [location] = locations(enrichText(`${input}\n`, {}))
    expect(location).toMatchObject({ ip: IP, city: 'London', timezone: { offset: '+01:00' } })
    const added = `,"location":${JSON.stringify(location)}}`
    expect(enrichText(`${input}\n`, {})).toBe(`${input.slice(0, -1)}${added}\n`)
  })

  it('can have an empty line, none, or one that cannot be read', () => {
    const lines = [ACCESS, ACCESS, ACCESS, '', ' \n', null, [129, 2], 'starting up\n', ACCESS].map(wrap)
    const { output, counts } = enrichBytes(utf8(`${lines.join('\n')}\n`), {})
    expect(counts).toMatchObject({ lines: 9, resolved: 4, bad: 1, failed: { missing: 4 } })
    expect(counts.badLines).toEqual([
      expect.objectContaining({ line: 8, message: expect.stringContaining(`in its "${member}"`) }),
    ])
    const found = locations(new TextDecoder().decode(output))
    expect(found.map((location) => location === null)).toEqual([0, 0, 0, 1, 1, 1, 1, 0, 0].map(Boolean))
    expect(found[7]).toBeUndefined()
  })

  it('are plain objects if one of their fields is the address, or is named', () => {
    const withField = wrap(SSHD).replace('{', '{"client_ip":"89.160.20.112",')
    expect(makePlan(utf8(`${withField}\n`), true, {}).plan).toMatchObject({ path: ['client_ip'] })
    const { plan } = makePlan(utf8(`${wrap(IP)}\n`), true, { field: member })
    expect(plan).toMatchObject({ format: 'ndjson', path: [member] })
    expect(plan).not.toHaveProperty('inside')
  })

  it('have a field of the line if that is named', () => {
    const input = wrap(JSON.stringify({ client_ip: '89.160.20.112', other: { ip: IP } }))
    expect(locations(enrichText(`${input}\n`, { field: 'other.ip' }))).toEqual([
      expect.objectContaining({ ip: IP }),
    ])
  })

  it('are refused if they have the member that is added', () => {
    const input = `${wrap(SSHD).replace('{', '{"location":1,')}\n`
    expect(() => enrichText(input, {})).toThrow(/already/)
    expect(locations(enrichText(input, { overwrite: true }))).toEqual([expect.objectContaining({ ip: IP })])
  })

  it('give each line the location that it has alone, however the input is cut', () => {
    const texts = fc.constantFrom(SSHD, `é "${IP}"\n`, 'a\tb\r\n', `\\${IP}`, `a\n[${IP}] b\n`, '')
    const line = fc.oneof(texts, fc.string({ unit: 'binary', maxLength: 20 }))
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.integer({ min: 1, max: 400 }), (lines, blockBytes) => {
        const options: EnrichOptions = { force: true }
        const input = [SSHD, ...lines].map(wrap)
        const { output } = enrichBytes(utf8(`${input.join('\n')}\n`), options, blockBytes)
        const alone = [SSHD, ...lines].map((text) => {
          const flat = `- ${text.replace(/[\r\n]/g, ' ')}`
          const [place] = locations(
            enrichText(`${flat}\n`, { format: 'text', to: 'ndjson', at: Date.UTC(2026, 6, 1) }),
          )
          return place
        })
        const written = new TextDecoder().decode(output).trimEnd().split('\n')
        expect(written).toEqual(
          input.map((object, index) => `${object.slice(0, -1)},"location":${JSON.stringify(alone[index])}}`),
        )
      }),
      { numRuns: effort({ short: 25, long: 100 }) },
    )
  })
})

describe('the time of a line in an object', () => {
  it('is that of the object, and without one that of the line', () => {
    const july = Array<string>(12).fill(docker(ACCESS))
    const lines = [
      docker(ACCESS).replace('2026-07', '2026-01'),
      ...july,
      docker(ACCESS).replace('2026-07-01T12:00:00.5Z', '-'),
    ]
    const places = locations(enrichText(`${lines.join('\n')}\n`, {}))
    expect(places[0]).toMatchObject({ timezone: { offset: '+00:00' } })
    expect(places[13]).toMatchObject({ timezone: { offset: '+01:00' } })
  })
})

describe('objects that only look like them', () => {
  it('are not looked into where most lines are no objects', () => {
    const lines = [...Array<string>(9).fill(ACCESS), docker(ACCESS)]
    expect(makePlan(utf8(`${lines.join('\n')}\n`), true, {}).plan).toMatchObject({ format: 'access-log' })
    expect(makePlan(utf8(`${lines.join('\n')}\n`), true, { format: 'ndjson' }).plan).toHaveProperty('inside')
  })

  it.each([
    '{"log":"81.2.69.142 a","stream":"stdout"}',
    '{"log":"81.2.69.142 a","time":"2026-07-01T12:00:00Z"}',
    '{"MESSAGE":"from 81.2.69.142"}',
  ])('have no line: %s', (object) => {
    expect(() => makePlan(utf8(`${object}\n`), true, {})).toThrow(
      expect.objectContaining({ code: 'ENRICH_FIELD_UNKNOWN' }),
    )
  })
})
