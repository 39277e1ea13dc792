import { describe, expect, it } from 'vitest'
import { damagedFile, InvalidDatabaseError } from '../../../src/errors.ts'
import { FaultList } from '../../../src/mmdb/verify.ts'

describe('a list of faults', () => {
  it('lists the same fault at the same offset once', () => {
    const list = new FaultList()
    list.add('bent', 7)
    list.add('bent', 7)
    list.add('bent', 8)
    list.add('torn', 7)
    list.add('torn')
    list.add('torn')
    expect(list.faults).toEqual([
      { message: 'bent', offset: 7 },
      { message: 'bent', offset: 8 },
      { message: 'torn', offset: 7 },
      { message: 'torn', offset: null },
    ])
    expect(list.count).toBe(4)
  })

  it('keeps a hundred, and counts the rest', () => {
    const list = new FaultList()
    for (let offset = 0; offset < 250; offset++) list.add('bent', offset)
    expect(list.faults.map(({ offset }) => offset)).toEqual(Array.from({ length: 100 }, (_, i) => i))
    expect(list.count).toBe(250)
  })

  it('adds the fault of an InvalidDatabaseError, without the advice', () => {
    const list = new FaultList()
    const attempts = [
      () => {},
      () => {
        throw damagedFile('bent', { offset: 7, path: '/x.mmdb' })
      },
      () => {
        throw damagedFile('torn')
      },
      () => {
        throw damagedFile('at the start', { offset: 0 })
      },
      () => {
        throw new InvalidDatabaseError('it is empty')
      },
    ]
    expect(attempts.map((each) => list.attempt(each))).toEqual([true, false, false, false, false])
    expect(list.faults).toEqual([
      { message: 'bent', offset: 7 },
      { message: 'torn', offset: null },
      { message: 'at the start', offset: 0 },
      { message: 'it is empty', offset: null },
    ])
  })

  it('lets other errors through', () => {
    const error = new RangeError('of the code itself')
    const list = new FaultList()
    expect(() =>
      list.attempt(() => {
        throw error
      }),
    ).toThrow(error)
    expect(list.faults).toEqual([])
  })
})
