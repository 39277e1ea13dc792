import { describe, expect, it } from 'vitest'
import { ZstdFrames } from '../../../src/cli/enrich/compression.ts'

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

describe('ZstdFrames', () => {
  it.each(Object.entries(FRAMES))('knows where %s ends, in pieces of any size', (_, frame) => {
    const bytes = Uint8Array.from([...frame, ...frame])
    for (const size of [1, 2, 3, 7, bytes.length]) {
      const frames = new ZstdFrames()
      for (let at = 0; at < bytes.length; at += size) {
        expect(frames.push(bytes.subarray(at, at + size))).toBe(true)
      }
      expect(frames.isWhole).toBe(true)
    }
  })

  it.each(Object.entries(FRAMES).filter(([name]) => !/,|and|before/.test(name)))(
    'finds %s cut short at any byte',
    (_, frame) => {
      for (let length = 1; length < frame.length; length++) {
        const frames = new ZstdFrames()
        frames.push(Uint8Array.from(frame.slice(0, length)))
        expect(frames.isWhole).toBe(false)
      }
    },
  )

  it.each([
    ['rubbish behind a frame', [...(FRAMES['a checksum'] ?? []), 1, 2, 3, 4]],
    ['a block of the reserved type', [...MAGIC, 0x00, 0x58, ...block(3, 1, true), 1]],
  ])('refuses %s', (_, bytes) => {
    const frames = new ZstdFrames()
    expect(frames.push(Uint8Array.from(bytes))).toBe(false)
    expect(frames.isWhole).toBe(false)
  })
})
