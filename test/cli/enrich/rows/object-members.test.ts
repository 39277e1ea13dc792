import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NONE } from '../../../../src/bytes/distinct-texts.ts'
import { ObjectMembers } from '../../../../src/cli/enrich/rows/object-members.ts'
import { viewOf } from '../../../../src/enrich/swar.ts'
import { effort } from '../../../effort.ts'

/** The members that are found in a line, parsed; `null` if it is refused. */
function membersOf(members: ObjectMembers, line: string): Record<string, unknown> | null {
  const bytes = Buffer.from(`${line}\n`)
  if (!members.read(bytes, viewOf(bytes), 0, bytes.length - 1)) return null
  const found = Array.from({ length: members.count }, (_, member) => [
    members.nameOf(member),
    JSON.parse(bytes.toString('utf8', members.starts[member], members.ends[member])),
  ])
  return Object.fromEntries(found)
}

function parsed(line: string): unknown {
  try {
    // As the bytes have it: a character that is cut in two is ill-formed.
    const value: unknown = JSON.parse(Buffer.from(line).toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

const name = fc.oneof(fc.constantFrom('ip', 'status', 'a"b', '', '__proto__'), fc.string({ unit: 'binary' }))
const lines = fc.array(
  fc.dictionary(name, fc.jsonValue()).map((object) => JSON.stringify(object)),
  { minLength: 1, maxLength: 8 },
)

describe('the members of an object', () => {
  it('are those that JSON.parse finds, whatever lines were before, also in damaged lines', () => {
    const damaged = fc
      .tuple(lines, fc.nat(), fc.constantFrom('"', '}', ',', ' ', '\\', '{', ':1,', ''))
      .map(([all, at, text]) =>
        all.flatMap((line) => {
          const cut = at % (line.length + 1)
          return [line, line.slice(0, cut) + text + line.slice(cut), line]
        }),
      )
    fc.assert(
      fc.property(damaged, fc.boolean(), (all, areFixed) => {
        const members = new ObjectMembers()
        if (areFixed) members.fixNames()
        for (const line of all) expect(membersOf(members, line)).toEqual(parsed(line))
      }),
      { numRuns: effort({ short: 100, long: 2000 }) },
    )
  })

  it('have the number of their name, or none if the names are fixed', () => {
    const members = new ObjectMembers()
    const ip = members.add('ip')
    expect(membersOf(members, '{"n":1,"ip":"a"}')).toEqual({ n: 1, ip: 'a' })
    expect(members.memberOf(ip)).toBe(1)
    members.fixNames()
    expect(membersOf(members, '{"\\u0069p":"b","late":true}')).toEqual({ ip: 'b', late: true })
    expect([...members.numbers.subarray(0, 2)]).toEqual([ip, NONE])
    expect(membersOf(members, '{"n":2}')).toEqual({ n: 2 })
    expect(members.memberOf(ip)).toBe(NONE)
  })

  it('have the number of a known name after any number of other names', () => {
    const members = new ObjectMembers()
    const ip = members.add('ip')
    const others = Array.from({ length: 5000 }, (_, index) => `"n${index}":0`)
    for (const line of [`{${others.join(',')},"ip":1}`, '{"n1":2,"ip":3}', '{"ip":4,"other":5}']) {
      expect(membersOf(members, line)).toEqual(JSON.parse(line))
      expect(members.numbers[members.memberOf(ip)]).toBe(ip)
    }
  })

  it('have the last value of a name that comes twice', () => {
    expect(membersOf(new ObjectMembers(), '{"a":1,"b":2,"\\u0061":3}')).toEqual({ a: 3, b: 2 })
  })
})
