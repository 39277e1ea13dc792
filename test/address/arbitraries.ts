import fc from 'fast-check'
import { anyCharacter } from '../any-character.ts'

/** An IPv6 address in one of the many spellings that RFC 4291 section 2.2 allows. */
export const ipv6Spelling: fc.Arbitrary<string> = fc
  .record({
    groups: fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff), fc.nat(15)), { minLength: 8, maxLength: 8 }),
    widths: fc.array(fc.nat(4), { minLength: 8, maxLength: 8 }),
    upper: fc.boolean(),
    gapAt: fc.option(fc.nat(7)),
    gapLength: fc.nat(7),
    dotted: fc.boolean(),
  })
  .map(({ groups, widths, upper, gapAt, gapLength, dotted }) => {
    const values = [...groups]
    const start = gapAt ?? -1
    const length = Math.min(gapLength + 1, 8 - Math.max(start, 0))
    if (start >= 0) values.fill(0, start, start + length)
    const spelled = values.map((group, i) => group.toString(16).padStart(widths[i] ?? 0, '0'))
    let text: string
    if (dotted && (start < 0 || start + length <= 6)) {
      const tail = [values[6] ?? 0, values[7] ?? 0].flatMap((group) => [group >> 8, group & 255]).join('.')
      spelled.splice(6, 2, tail)
    }
    if (start < 0) text = spelled.join(':')
    else text = `${spelled.slice(0, start).join(':')}::${spelled.slice(start + length).join(':')}`
    return upper ? text.toUpperCase() : text
  })

export const ipv4Text: fc.Arbitrary<string> = fc.ipV4()

/** Texts of characters that occur in addresses. Few of them are addresses. */
const nearMiss = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF::::....'), maxLength: 48 })

/** Groups and octets, joined wrongly about as often as correctly. */
const joined = fc
  .tuple(
    fc.array(
      fc.oneof(
        fc.nat(300).map(String),
        fc.nat(0x1ffff).map((n) => n.toString(16)),
        fc.constant(''),
      ),
      {
        maxLength: 10,
      },
    ),
    fc.constantFrom('.', ':', '::'),
  )
  .map(([parts, separator]) => parts.join(separator))

/** A valid address with one to three characters deleted, doubled, replaced or inserted. */
const mutated = fc
  .tuple(
    fc.oneof(ipv6Spelling, ipv4Text, fc.ipV6()),
    fc.array(
      fc.record({
        at: fc.nat(50),
        edit: fc.constantFrom('delete', 'double', 'replace', 'insert'),
        by: fc.constantFrom(...'0123456789abcdefgG:./[]- \n\0１%'),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  )
  .map(([address, edits]) => {
    let text = address
    for (const { at, edit, by } of edits) {
      const i = text.length === 0 ? 0 : at % text.length
      const head = text.slice(0, i)
      const here = text.slice(i, i + 1)
      const tail = text.slice(i + 1)
      text =
        { delete: head, double: head + here + here, replace: head + by, insert: head + by + here }[edit] +
        tail
    }
    return text
  })

/** Any text, in most cases close to an address. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: mutated },
  { weight: 3, arbitrary: nearMiss },
  { weight: 3, arbitrary: joined },
  { weight: 2, arbitrary: ipv6Spelling },
  { weight: 1, arbitrary: ipv4Text },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter }) },
)
