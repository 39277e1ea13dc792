import fc from 'fast-check'

/** Bytes with a meaning in many formats. */
const TELLING = [0, 1, 2, 0x0a, 0x0d, 0x1d, 0x1e, 0x1f, 0x20, 0x22, 0x2c, 0x7f, 0x80, 0xc3, 0xe0, 0xfe, 0xff]

interface Edit {
  /** A fraction of the length, so that it is a similar position in a sample of another length. */
  readonly at: number
  readonly kind: 'set' | 'flip' | 'insert' | 'delete' | 'repeat' | 'cut' | 'copy' | 'add'
  readonly size: number
  readonly byte: number
}

const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat(0xffff),
  kind: fc.constantFrom('set', 'set', 'flip', 'flip', 'add', 'insert', 'delete', 'repeat', 'cut', 'copy'),
  size: fc.oneof({ weight: 3, arbitrary: fc.nat(4) }, { weight: 1, arbitrary: fc.nat(40) }),
  byte: fc.oneof(fc.constantFrom(...TELLING), fc.nat(255)),
})

/** Samples with some parts changed, removed, repeated or copied; sometimes unchanged. */
export function mutatedBytes(samples: fc.Arbitrary<Uint8Array>, maxEdits = 4): fc.Arbitrary<Uint8Array> {
  return fc
    .tuple(samples, fc.array(edit, { maxLength: maxEdits }))
    .map(([sample, edits]) => edits.reduce(edited, sample))
}

/** Like {@link mutatedBytes}, for texts. */
export function mutatedText(samples: fc.Arbitrary<string>, alphabet: string): fc.Arbitrary<string> {
  const change = fc.record({
    at: fc.nat(0xffff),
    removed: fc.nat(3),
    inserted: fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 3 }),
  })
  return fc.tuple(samples, fc.array(change, { maxLength: 3 })).map(([sample, changes]) =>
    changes.reduce((text, { at, removed, inserted }) => {
      const place = at % (text.length + 1)
      return text.slice(0, place) + inserted + text.slice(place + removed)
    }, sample),
  )
}

function edited(bytes: Uint8Array, { at, kind, size, byte }: Edit): Uint8Array {
  const place = Math.floor((at / 0x10000) * (bytes.length + 1))
  const head = bytes.subarray(0, place)
  const tail = bytes.subarray(place)
  const chosen = tail.subarray(0, size + 1)
  switch (kind) {
    case 'set':
      return join(head, Uint8Array.of(byte), tail.subarray(1))
    case 'flip':
      return join(head, Uint8Array.of((tail[0] ?? 0) ^ (1 << (byte & 7))), tail.subarray(1))
    case 'add':
      return join(head, Uint8Array.of((tail[0] ?? 0) + (size & 1 ? 1 : -1)), tail.subarray(1))
    case 'insert':
      return join(head, new Uint8Array(size + 1).fill(byte), tail)
    case 'delete':
      return join(head, tail.subarray(size + 1))
    case 'repeat':
      return join(head, chosen, tail)
    case 'cut':
      return head.slice()
    case 'copy': {
      const source = Math.floor((byte / 256) * bytes.length)
      return join(head, bytes.subarray(source, source + size + 1), tail.subarray(size + 1))
    }
  }
}

function join(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts))
}
