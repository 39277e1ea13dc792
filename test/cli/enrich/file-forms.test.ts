import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type ByteChunks, formOfName, zstdFrames } from '../../../src/cli/enrich/file-forms.ts'
import { bytesOf } from '../../mmdb/hand-made.ts'
import { failure, ndjson, workspace } from './command-line.ts'

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
  const { at, file: input, enrich: withDatabase } = workspace('--quiet', '--fields', 'city')
  const enrich = (...args: string[]) => withDatabase(args)
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
    expect(await enrich(list, '--append', '--to', 'json')).toEqual(failure(2, '--append keeps them'))
    expect(await enrich(lines, '-o', at('out.xlsx'))).toEqual(failure(2, 'no form has the ending .xlsx'))
  })
})

const MAGIC = '28b52ffd'

/** A block, in hexadecimal: RFC 8878 section 3.1.1.2. */
function block(type: number, size: number, isLast: boolean): string {
  const header = Buffer.alloc(3)
  header.writeUIntLE((size << 3) | (type << 1) | Number(isLast), 0, 3)
  return header.toString('hex')
}

const content = (length: number): string => '28'.repeat(length)
/** A last block of one byte. */
const BYTE = `${block(0, 1, true)} 07`
const frame = (...parts: string[]): string => [MAGIC, ...parts].join(' ')

/** Kinds of frames, each whole, in hexadecimal. */
const FRAMES: Readonly<Record<string, string>> = {
  'a single segment with one byte of size': frame('20 05', block(0, 5, true), content(5)),
  'a window, no size': frame('00 58', block(2, 9, true), content(9)),
  'a checksum': frame('04 58', block(2, 9, true), content(9), '01020304'),
  'sizes of 2, 4 and 8 bytes':
    frame('40 58', content(2), BYTE) + frame('80 58', content(4), BYTE) + frame('c0 58', content(8), BYTE),
  'dictionaries of 1, 2 and 4 bytes':
    frame('21', content(1), '01', BYTE) +
    frame('22', content(2), '01', BYTE) +
    frame('23', content(4), '01', BYTE),
  'several blocks, one of a byte repeated 100,000 times, one empty': frame(
    ...['00 58', block(1, 100_000, false), '07', block(0, 300, false), content(300), block(0, 0, true)],
  ),
  'a skippable frame before another': `5a2a4d18 03000000 010203 ${frame('20 01', BYTE)}`,
  'an empty skippable frame': '502a4d18 00000000',
}

/** Where the chunks end that pass. */
async function endsOf(bytes: Uint8Array, size = bytes.length): Promise<number[]> {
  async function* chunks(): ByteChunks {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  const ends: number[] = []
  const failure = (isTruncated: boolean) => new Error(isTruncated ? 'truncated' : 'damaged')
  for await (const { length } of zstdFrames(chunks(), failure)) ends.push((ends.at(-1) ?? 0) + length)
  return ends
}

describe('zstdFrames', () => {
  it.each(Object.entries(FRAMES))(
    'ends a chunk after a frame with %s, in chunks of any size',
    async (_, each) => {
      const bytes = bytesOf(each + each)
      for (const size of [1, 2, 3, 7, bytes.length]) {
        const ends = await endsOf(bytes, size)
        expect(ends).toContain(bytes.length / 2)
        expect(ends.at(-1)).toBe(bytes.length)
      }
    },
  )

  it.each(Object.entries(FRAMES).filter(([name]) => !/,|and|before/.test(name)))(
    'refuses a frame with %s that is truncated at any byte',
    async (_, each) => {
      const bytes = bytesOf(each)
      for (let length = 1; length < bytes.length; length++)
        await expect(endsOf(bytes.subarray(0, length))).rejects.toThrow('truncated')
    },
  )

  it.each([
    ['rubbish after a frame', `${FRAMES['a checksum']} 01020304`],
    ['a block of the reserved type', frame('00 58', block(3, 1, true), '01')],
  ])('refuses %s', async (_, bytes) => {
    await expect(endsOf(bytesOf(bytes))).rejects.toThrow('damaged')
  })
})
