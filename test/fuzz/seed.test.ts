import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeSeed, encodeSeed } from './seed.ts'

const leaf = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.bigInt(),
  fc.boolean(),
  fc.uint8Array(),
  fc.constant(null),
)
const key = fc.string().filter((name) => !name.startsWith('$') && name !== '__proto__')
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}))

describe('a seed', () => {
  it('is decoded as it was encoded', () => {
    fc.assert(
      fc.property(value, (input) => {
        expect(decodeSeed(encodeSeed({ note: 'x', input }))).toEqual({ note: 'x', input })
      }),
      { numRuns: 500 },
    )
  })

  it('shows readable bytes as text', () => {
    expect(encodeSeed({ note: '', input: new TextEncoder().encode('ip,a\n') })).toContain(
      '"$text": "ip,a\\n"',
    )
    expect(encodeSeed({ note: '', input: Uint8Array.of(0xff, 1) })).toContain('"$base64": "/wE="')
  })

  it.each(['1', '{}', '{"note":""}', '{"input":1}'])('is not %s', (text) => {
    expect(() => decodeSeed(text)).toThrow('a seed is a JSON object')
  })
})
