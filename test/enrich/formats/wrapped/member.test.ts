// Lines in a member of each object, as Docker and journald write them.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type EnrichOptions, makePlan } from '../../../../src/enrich/formats/formats.ts'
import { effort } from '../../../effort.ts'
import { enrichText, located, objectsIn, wholeSample } from '../../world.ts'

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
const locations = (output: string): unknown[] => objectsIn(output).map(({ location }) => location)

describe.each(WRAPS)('objects that %s writes', (wrapper, member, wrap) => {
  it.each([
    ['access-log', `${ACCESS}\n`],
    ['ndjson', `{"client_ip":"${IP}","server":"8.8.8.8"}\n`],
    ['text', `${SSHD}\n`],
  ])('have lines of the format %s, and keep all that they have', (format, line) => {
    const input = wrap(line)
    const { plan, notes } = makePlan(wholeSample(`${input}\n`), {})
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
    const { output, counts } = located(`${lines.join('\n')}\n`)
    expect(counts).toMatchObject({ lines: 9, resolved: 4, bad: 1, failed: { missing: 4 } })
    expect(counts.badLines).toEqual([
      expect.objectContaining({ line: 8, message: expect.stringContaining(`in its "${member}"`) }),
    ])
    const found = locations(output)
    expect(found.map((location) => location === null)).toEqual([0, 0, 0, 1, 1, 1, 1, 0, 0].map(Boolean))
    expect(found[7]).toBeUndefined()
  })

  it('are plain objects if one of their fields is the address, or is named', () => {
    const withField = wrap(SSHD).replace('{', '{"client_ip":"89.160.20.112",')
    expect(makePlan(wholeSample(`${withField}\n`), {}).plan).toMatchObject({ path: ['client_ip'] })
    const { plan } = makePlan(wholeSample(`${wrap(IP)}\n`), { field: member })
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
    // A short text with a zero byte is not read alone: it may be UTF-16.
    const other = fc.string({ unit: 'binary', maxLength: 20 }).filter((text) => !text.includes('\0'))
    const line = fc.oneof(texts, other)
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.integer({ min: 1, max: 400 }), (lines, blockBytes) => {
        const options: EnrichOptions = { force: true }
        const input = [SSHD, ...lines].map(wrap)
        const { output } = located(`${input.join('\n')}\n`, options, blockBytes)
        const alone = [SSHD, ...lines].map((text) => {
          const flat = `- ${text.replace(/[\r\n]/g, ' ')}`
          const [place] = locations(
            enrichText(`${flat}\n`, { format: 'text', to: 'ndjson', at: Date.UTC(2026, 6, 1) }),
          )
          return place
        })
        const written = output.trimEnd().split('\n')
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
    expect(makePlan(wholeSample(`${lines.join('\n')}\n`), {}).plan).toMatchObject({ format: 'access-log' })
    expect(makePlan(wholeSample(`${lines.join('\n')}\n`), { format: 'ndjson' }).plan).toHaveProperty('inside')
  })

  it.each([
    '{"log":"81.2.69.142 a","stream":"stdout"}',
    '{"log":"81.2.69.142 a","time":"2026-07-01T12:00:00Z"}',
    '{"MESSAGE":"from 81.2.69.142"}',
  ])('have no line: %s', (object) => {
    expect(() => makePlan(wholeSample(`${object}\n`), {})).toThrow(
      expect.objectContaining({ code: 'ENRICH_FIELD_UNKNOWN' }),
    )
  })
})

describe('a line that Docker has cut into objects', () => {
  const SIZE = 16_384
  // Go escapes some characters that JSON need not escape.
  const object = (log: string, stream = 'stdout', second = 0): string =>
    `${JSON.stringify({ log, stream, time: `2026-07-01T12:00:0${second}Z` }).replaceAll('<', '\\u003c')}\n`
  const whole = object(`${SSHD}\n`)
  /** Both cuts are within an address: each part alone has another one. */
  const first = `${'x'.repeat(SIZE - 13)} from 1.1.1.9`
  const second = `.9.9.9 \\n"<\t${'é'.repeat((SIZE - 22) / 2)} 189.160.2`
  const last = '0.112 end\n'

  it('is the line of the last object', () => {
    const input = whole + object(first) + object(second) + object(last, 'stdout', 1) + whole
    const joined = whole + object(first + second + last, 'stdout', 1) + whole
    const options: readonly EnrichOptions[] = [
      {},
      { to: 'ndjson' },
      { mask: [8, 16] },
      { onlyFailed: true, to: 'ndjson' },
    ]
    for (const each of options)
      for (const blockBytes of [1, 5000, 20_000, 1_000_000]) {
        const { output, counts } = located(input, each, blockBytes)
        expect(output).toBe(enrichText(joined, each))
        expect(counts).toMatchObject({ lines: 3, bad: 0 })
      }
  })

  it.each([
    ['the other stream comes between', [object(first), object(`${SSHD}\n`, 'stderr'), object(last)]],
    ['the next object has no stream', [object(first), object(last).replace('stream', 'other')]],
    [
      'the next object has another line',
      [object(first), object(last).replace('"log":"', '"log":1,"other":"')],
    ],
    ['the next line is no object', [object(first), object(last).slice(3)]],
    ['nothing follows', [object(first)]],
    ['it ends', [object(`${first}\n`), object(last)]],
    ['it is shorter', [object(first.slice(1)), object(last)]],
  ])('is not joined if %s', (_, objects) => {
    const { output, counts } = located(whole.repeat(20) + objects.join(''))
    expect(counts.lines).toBe(objects.length + 20)
    for (const each of objects) expect(output).toContain(each.slice(0, -2))
  })

  it('is not joined if it is too long, or if no line ends with a line feed', () => {
    const input = whole + object(first) + object(last) + whole
    expect(located(input, { maxLineBytes: SIZE + 100 }).counts.lines).toBe(4)
    expect(located(input.replaceAll('\\n"', '"')).counts.lines).toBe(4)
    expect(located(input).counts.lines).toBe(3)
  })
})
