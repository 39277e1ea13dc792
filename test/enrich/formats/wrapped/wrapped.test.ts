// Lines behind what container runtimes, Docker Compose, kubectl and syslog write before each line.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type EnrichOptions, makePlan } from '../../../../src/enrich/formats/formats.ts'
import { enrichText, located, objectsIn, wholeSample } from '../../world.ts'

const IP = '81.2.69.142'
const ACCESS = `${IP} - - [01/Jul/2026:14:00:00 +0200] "GET /?next=8.8.8.8 HTTP/1.1" 200 9`
const OBJECT = `{"ip":"${IP}","n":1}`
const AT = Date.UTC(2026, 6, 1)

/** From the documents of each, by the name of who writes it. */
const PREFIXES: readonly [wrapper: string, prefix: string][] = [
  ['compose', 'web-1  | '],
  ['compose', '\u001b[36mweb-1     | \u001b[0m'],
  ['compose', 'api_1 | '],
  ['cri', '2026-07-01T12:00:00.123456789Z stdout F '],
  ['cri', '2026-07-01T12:00:00.123456789+02:00 stderr F '],
  ['kubectl', '[pod/web-7d4b9c/nginx] '],
  ['syslog', 'Jul  1 12:00:00 host nginx: '],
  ['syslog', 'Jul 11 12:00:00 host nginx[812]: '],
  ['syslog', '<190>Jul  1 12:00:00 host nginx: '],
  ['syslog', '2026-07-01T12:00:00.123456+02:00 host nginx[7]: '],
  ['syslog', '<165>1 2026-07-01T12:00:00.003Z host nginx 812 ID47 - '],
  ['syslog', '<165>1 2026-07-01T12:00:00.003Z host nginx - - [a@1 b="c d"][e@1 f="g"] '],
]

describe.each(PREFIXES)('lines behind what %s writes: %j', (wrapper, prefix) => {
  it('are read by their own format, and keep the prefix', () => {
    const json = enrichText(`${prefix}${OBJECT}\n`, { at: AT })
    expect(makePlan(wholeSample(`${prefix}${OBJECT}\n`), {}).plan).toMatchObject({
      format: 'ndjson',
      wrapper,
    })
    expect(json).toBe(prefix + enrichText(`${OBJECT}\n`, { at: AT }))
    const appended: EnrichOptions = { at: AT, append: true, fields: ['city'] }
    expect(enrichText(`${prefix}${ACCESS}\n`, appended)).toBe(`${prefix}${ACCESS}\tLondon\n`)
  })

  it('become objects with the prefix as their first member', () => {
    for (const content of [ACCESS, OBJECT, ` ${OBJECT}`]) {
      const [inside, outside]: unknown[] = [content, prefix + content].map((line): unknown =>
        JSON.parse(enrichText(`${line}\n`, { at: AT, to: 'ndjson' })),
      )
      expect(outside).toEqual({ wrapper: prefix, ...Object(inside) })
      expect(Object.keys(Object(outside))[0]).toBe('wrapper')
      const named = { at: AT, to: 'ndjson', into: 'wrapper' } as const
      expect(() => enrichText(`${prefix + content}\n`, named)).toThrow(
        'a line has a member "wrapper" already',
      )
    }
    expect(() => enrichText(`${prefix}${ACCESS}\n`, { at: AT, into: 'wrapper' })).toThrow('already')
  })

  it('become objects too if they cannot be read', () => {
    const lines = [OBJECT, OBJECT, 'starting'].map((line) => `${prefix}${line}\n`).join('')
    expect(objectsIn(enrichText(lines, { at: AT, to: 'ndjson', format: 'ndjson' })).at(-1)).toEqual({
      raw: `${prefix}starting`,
      location: null,
    })
  })

  it('can be lines that the format of the others does not read, or have no prefix', () => {
    const lines = [OBJECT, OBJECT, OBJECT, '', 'starting up']
      .map((line) => `${prefix}${line}\n`)
      .join('')
      .repeat(4)
    const { counts } = located(`${lines}${OBJECT}\n`, { at: AT })
    expect(counts).toMatchObject({ resolved: 13, blank: 4, bad: 4 })
  })
})

describe('a line in parts', () => {
  const part = (tag: string, text: string): string => `2026-07-01T12:00:00.1Z stdout ${tag} ${text}\n`
  it('is joined, behind the prefix of its last part', () => {
    const input = `${part('F', OBJECT)}${part('P', '{"ip":"89.160')}${part('P', '.20.112","n"')}${part('F', ':2}')}${part('F', OBJECT)}`
    const whole = `${part('F', OBJECT)}${part('F', '{"ip":"89.160.20.112","n":2}')}${part('F', OBJECT)}`
    for (const blockBytes of [1, 50, 100_000]) {
      const { output, counts } = located(input, { at: AT }, blockBytes)
      expect(output).toBe(enrichText(whole, { at: AT }))
      expect(counts).toMatchObject({ lines: 3, resolved: 3, bad: 0 })
    }
  })

  it('is not joined with a line of the other stream', () => {
    const other = (text: string): string => text.replace('stdout', 'stderr')
    const lines = [
      part('F', OBJECT),
      part('P', '{"ip":"89.160.20.112",'),
      other(part('F', OBJECT)),
      other(part('P', '{"ip":"81.2')),
      other(part('F', '.69.142"}')),
      part('F', '"n":2}'),
      part('P', '{"ip":'),
    ]
    for (const blockBytes of [1, 50, 100_000]) {
      const { output, counts } = located(lines.join(''), { at: AT }, blockBytes)
      expect(counts).toMatchObject({ lines: 6, resolved: 3, bad: 3 })
      const kept = lines.filter((_, index) => [1, 5, 6].includes(index))
      for (const line of kept) expect(output).toContain(line)
    }
  })

  it('stays in parts if it is too long, and does not end', () => {
    const endless = part('P', 'x'.repeat(100)).repeat(50)
    const input = part('F', OBJECT).repeat(20) + endless
    const { output, counts } = located(input, { at: AT, maxLineBytes: 1000, format: 'ndjson' }, 64)
    expect(counts.resolved).toBe(20)
    expect(output.endsWith(endless)).toBe(true)
  })
})

describe('lines that only look wrapped', () => {
  it.each([
    ['ndjson', '{"ip":"81.2.69.142","a":"web-1  | {}"}\n'],
    ['access-log', `${ACCESS}\n`],
    ['text', 'Jul  1 12:00:00 host sshd[7]: Failed password for root from 81.2.69.142 port 1 ssh2\n'],
    ['text', 'web-1  | connected: 81.2.69.142\n'],
    ['csv', 'a | b,ip\nx | y,81.2.69.142\n'],
  ])('are %s: %j', (format, input) => {
    const { plan } = makePlan(wholeSample(input), {})
    expect([plan.format, plan.wrapper]).toEqual([format, undefined])
  })
})

describe('wrapped lines of any content', () => {
  const objects = fc.array(
    fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }),
    {
      maxLength: 6,
    },
  )
  it("are what each alone becomes in the format 'ndjson', in blocks of any size and parts", () => {
    fc.assert(
      fc.property(
        objects,
        fc.constantFrom(...PREFIXES.map(([, prefix]) => prefix)),
        fc.integer({ min: 1, max: 300 }),
        fc.array(fc.nat(200)),
        (all, prefix, blockBytes, cuts) => {
          const lines = [OBJECT, ...all.map((object) => JSON.stringify({ ...object, ip: '81.2.69.142' }))]
          const options: EnrichOptions = { at: AT, format: 'ndjson', field: 'ip', into: 'place of it' }
          const isCri = prefix.includes(' F ')
          const wrapped = lines.map((line, index) => {
            const at = isCri ? (cuts[index] ?? 0) % (line.length + 1) : 0
            return at === 0
              ? prefix + line
              : `${prefix.replace(' F ', ' P ')}${line.slice(0, at)}\n${prefix}${line.slice(at)}`
          })
          const { output } = located(`${wrapped.join('\n')}\n`, options, blockBytes)
          const expected = enrichText(`${lines.join('\n')}\n`, options)
            .trimEnd()
            .split('\n')
          expect(output.trimEnd().split('\n')).toEqual(expected.map((line) => prefix + line))
        },
      ),
    )
  })
})
