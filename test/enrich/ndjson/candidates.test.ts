import { describe, expect, it } from 'vitest'
import { chooseAddress, leavesOf } from '../../../src/enrich/ndjson/candidates.ts'

const text = (leaves: ReturnType<typeof leavesOf>) => [...leaves.keys()]

/** As many members with texts in them, of which the names are short. */
function members(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, '']))
}

describe('the members with text', () => {
  it('are told over all objects, with what they hold', () => {
    const leaves = leavesOf([{ ip: '1.1.1.1', a: { b: 'x' }, n: 1 }, { ip: '-' }, { ip: '2.2.2.2' }], null)
    expect(text(leaves)).toEqual(['ip', 'a.b'])
    expect([...(leaves.get('ip')?.kinds ?? [])]).toEqual([
      ['address', 2],
      ['missing', 1],
    ])
  })

  it('are those of five levels of objects, and of no arrays', () => {
    const object = { a: { b: { c: { d: { e: 'x', f: { g: 'x' } } } } }, list: ['x'] }
    expect(text(leavesOf([object], null))).toEqual(['a.b.c.d.e'])
  })

  it('are not those in the member that is replaced', () => {
    expect(text(leavesOf([{ place: { ip: 'x' }, a: { place: 'x' } }], 'place'))).toEqual(['a.place'])
  })

  it('have names of 256 characters at most on their way, together', () => {
    const at = (first: number, second: number) => ({ ['a'.repeat(first)]: { ['b'.repeat(second)]: 'x' } })
    const objects = [at(128, 128), at(255, 1), at(256, 1), at(128, 129), { ['c'.repeat(257)]: 'x' }]
    expect(text(leavesOf(objects, null)).map((path) => path.length)).toEqual([257, 257])
  })

  it('are not looked for below a name that no field has', () => {
    const long = { ['k'.repeat(100_000)]: members(10) }
    expect(leavesOf([long, { ip: '1.1.1.1' }], null).size).toBe(1)
  })

  it('are 2,000 at most, which are still counted in the objects behind them', () => {
    const leaves = leavesOf([{ ip: '-' }, members(2500), { late: 'x' }, { ip: '1.1.1.1' }], null)
    expect(leaves.size).toBe(2000)
    expect(leaves.has('late')).toBe(false)
    expect(leaves.get('ip')?.kinds.get('address')).toBe(1)
  })

  it('leave the usual name chosen, however many members come before its first address', () => {
    const objects = Array.from({ length: 60 }, (_, line) => ({
      ip: line < 30 ? '-' : `81.2.69.${line}`,
      srv: `10.0.0.${line}`,
      kv: Object.fromEntries(Array.from({ length: 100 }, (__, i) => [`id${line}x${i}`, 'x'])),
    }))
    expect(chooseAddress(leavesOf(objects, null), false).best).toEqual(['ip'])
  })
})
