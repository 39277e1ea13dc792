import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ByteChunks, formOfName, zstdFrames } from '../../../src/cli/enrich/file-forms.ts'
import { makeFile, temporaryFolder } from '../../temporary.ts'
import { geofix, ndjson, writeDatabase } from './command-line.ts'

describe('formOfName', () => {
  const FORMS = ['ndjson', 'json', 'csv', 'tsv', 'parquet'] as const

  it.each<[name: string | undefined, form: (typeof FORMS)[number] | undefined]>([
    ['a.ndjson', 'ndjson'],
    ['a.JSONL.gz', 'ndjson'],
    ['dir.md/a.json.zst', 'json'],
    ['a.csv', 'csv'],
    ['a.geo.tsv', 'tsv'],
    ['a.parquet', 'parquet'],
    // Names that ask for no form.
    [undefined, undefined],
    ['a', undefined],
    ['a.gz', undefined],
    ['a.log.gz', undefined],
    ['a.txt', undefined],
    ['access.log.2', undefined],
    ['access.log.2026-07-01', undefined],
    ['.hidden', undefined],
    ['/dev/fd/3', undefined],
    ['b.w3c.gz', undefined],
  ])('%j is %j', (name, form) => {
    expect(formOfName(name, FORMS, ['a.W3C'])).toBe(form)
  })

  it.each(['a.xlsx', 'a.html', 'a.md', 'a.xml.gz', 'a.csv.bz2', 'a.json5'])(
    '%s is an error that lists the forms',
    (name) => {
      expect(() => formOfName(name, FORMS)).toThrow(
        /no form has the ending \.\w+\. Write \.csv, \.tsv, \.json, \.ndjson, \.jsonl, \.parquet, or \.txt for text; or choose/,
      )
    },
  )
})

describe('geofix enrich -o FILE.json', () => {
  const folder = temporaryFolder()
  const at = (name: string): string => join(folder, name)
  const enrich = (...args: string[]) =>
    geofix(['enrich', '--quiet', '--db', writeDatabase(folder), '--fields', 'city', ...args])
  const input = (name: string, text: string): string => makeFile(at(name), text)
  const read = (): unknown => JSON.parse(readFileSync(at('out.json'), 'utf8'))

  it('is an array of what the lines are as NDJSON', async () => {
    const lines = input('lines.ndjson', ndjson(2000))
    const second = input('second.ndjson', '{"ip":"81.2.69.142"}\n{"ip":"10.0.0.1"}')
    await enrich(lines, second, '-o', at('out.ndjson'), '--to', 'ndjson')
    expect(await enrich(lines, second, '-o', at('out.json'))).toMatchObject({ status: 0 })
    const objects = readFileSync(at('out.ndjson'), 'utf8').trimEnd().split('\n')
    expect(objects).toHaveLength(2002)
    expect(read()).toEqual(objects.map((line) => JSON.parse(line)))
    // Numbers keep their digits.
    const text = input('digits.ndjson', '{"ip":"81.2.69.142","n":12345678901234567890,"f":1.0}\n')
    await enrich(text, '-o', at('out.json'))
    expect(readFileSync(at('out.json'), 'utf8')).toBe(
      '[\n{"ip":"81.2.69.142","n":12345678901234567890,"f":1.0,"location":{"city":"London"}}\n]\n',
    )
  })

  it('has an object with the text of each line that cannot be read', async () => {
    const lines = input('bad.ndjson', '\ufeff{"ip":"81.2.69.142"}\r\n{"ip": \n\n{"ip":"1.2.3.4"}')
    expect(await enrich(lines, '-o', at('out.json'))).toMatchObject({ status: 0 })
    expect(read()).toEqual([
      { ip: '81.2.69.142', location: { city: 'London' } },
      { raw: '{"ip":', location: null },
      { ip: '1.2.3.4', location: { city: 'Sydney' } },
    ])
  })

  it('keeps one document, unless objects are left out', async () => {
    const trail = input('trail.json', '{"Records":[{"ip":"81.2.69.142"},{"ip":"10.0.0.1"}]}')
    const located = { ip: '81.2.69.142', location: { city: 'London' } }
    await enrich(trail, '-o', at('out.json'))
    expect(read()).toEqual({ Records: [located, { ip: '10.0.0.1', location: null }] })
    expect(await enrich(trail, '-o', at('out.json'), '--drop-unresolved')).toMatchObject({ status: 0 })
    expect(read()).toEqual([located])
    expect(await enrich(trail, trail, '-o', at('out.json'))).toMatchObject({ status: 0 })
    expect(read()).toHaveLength(4)
  })

  it('is empty if no line stays, and is not for lines that are kept', async () => {
    const lines = input('lines.ndjson', ndjson(3))
    await enrich(lines, '-o', at('out.json'), '--only-country', 'JP')
    expect(read()).toEqual([])
    const list = input('list.txt', '81.2.69.142\n')
    const { status, err } = await enrich(list, '--append', '--to', 'json')
    expect({ status, err }).toMatchObject({ status: 2, err: expect.stringContaining('--append keeps them') })
    expect(await enrich(lines, '-o', at('out.xlsx'))).toMatchObject({
      status: 2,
      err: expect.stringContaining('no form has the ending .xlsx'),
    })
  })
})

const MAGIC = [0x28, 0xb5, 0x2f, 0xfd]

/** A block: RFC 8878 section 3.1.1.2. */
function block(type: number, size: number, isLast: boolean): number[] {
  const header = (size << 3) | (type << 1) | (isLast ? 1 : 0)
  return [header & 255, (header >> 8) & 255, header >> 16]
}

const content = (length: number): number[] => Array<number>(length).fill(0x28)

/** Kinds of frames, each whole. */
const FRAMES: Readonly<Record<string, number[]>> = {
  'a single segment with one byte of size': [...MAGIC, 0x20, 5, ...block(0, 5, true), ...content(5)],
  'a window, no size': [...MAGIC, 0x00, 0x58, ...block(2, 9, true), ...content(9)],
  'a checksum': [...MAGIC, 0x04, 0x58, ...block(2, 9, true), ...content(9), 1, 2, 3, 4],
  'sizes of 2, 4 and 8 bytes': [0x40, 0x80, 0xc0].flatMap((flags, index) => [
    ...MAGIC,
    flags,
    0x58,
    ...content(2 ** (index + 1)),
    ...block(0, 1, true),
    7,
  ]),
  'dictionaries of 1, 2 and 4 bytes': [1, 2, 3].flatMap((flags) => [
    ...MAGIC,
    0x20 | flags,
    ...content([0, 1, 2, 4][flags] ?? 0),
    1,
    ...block(0, 1, true),
    7,
  ]),
  'several blocks, one of a byte repeated 100,000 times, one empty': [
    ...MAGIC,
    0x00,
    0x58,
    ...block(1, 100_000, false),
    7,
    ...block(0, 300, false),
    ...content(300),
    ...block(0, 0, true),
  ],
  'a skippable frame before another': [
    0x5a,
    0x2a,
    0x4d,
    0x18,
    3,
    0,
    0,
    0,
    1,
    2,
    3,
    ...MAGIC,
    0x20,
    1,
    ...block(0, 1, true),
    7,
  ],
  'an empty skippable frame': [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0],
}

/** Where the chunks end that pass. */
async function endsOf(bytes: readonly number[], size = bytes.length): Promise<number[]> {
  async function* chunks(): ByteChunks {
    for (let at = 0; at < bytes.length; at += size) yield Uint8Array.from(bytes.slice(at, at + size))
  }
  const ends: number[] = []
  const failure = (isTruncated: boolean) => new Error(isTruncated ? 'truncated' : 'damaged')
  for await (const { length } of zstdFrames(chunks(), failure)) ends.push((ends.at(-1) ?? 0) + length)
  return ends
}

describe('zstdFrames', () => {
  it.each(Object.entries(FRAMES))(
    'ends a chunk after a frame with %s, in chunks of any size',
    async (_, frame) => {
      for (const size of [1, 2, 3, 7, 2 * frame.length]) {
        const ends = await endsOf([...frame, ...frame], size)
        expect(ends).toContain(frame.length)
        expect(ends.at(-1)).toBe(2 * frame.length)
      }
    },
  )

  it.each(Object.entries(FRAMES).filter(([name]) => !/,|and|before/.test(name)))(
    'refuses a frame with %s that is truncated at any byte',
    async (_, frame) => {
      for (let length = 1; length < frame.length; length++)
        await expect(endsOf(frame.slice(0, length))).rejects.toThrow('truncated')
    },
  )

  it.each([
    ['rubbish after a frame', [...(FRAMES['a checksum'] ?? []), 1, 2, 3, 4]],
    ['a block of the reserved type', [...MAGIC, 0x00, 0x58, ...block(3, 1, true), 1]],
  ])('refuses %s', async (_, bytes) => {
    await expect(endsOf(bytes)).rejects.toThrow('damaged')
  })
})
