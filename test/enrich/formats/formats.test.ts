import { describe, expect, it } from 'vitest'
import { definitionOf, FORMAT_DEFINITIONS, FORMATS } from '../../../src/enrich/formats/formats.ts'

describe('the formats', () => {
  it('have names of their own', () => {
    expect(FORMATS).toEqual(FORMAT_DEFINITIONS.map(({ name }) => name))
    expect(new Set(FORMATS).size).toBe(FORMATS.length)
  })

  it('are found by name', () => {
    for (const definition of FORMAT_DEFINITIONS) expect(definitionOf(definition.name)).toBe(definition)
  })

  it('are an error if the name is unknown', () => {
    expect(() => Reflect.apply(definitionOf, undefined, ['xml'])).toThrow(RangeError)
  })

  it('require only options for rows that they have, or that are for all formats', () => {
    for (const { name, options, requiredForRows } of FORMAT_DEFINITIONS) {
      const isTable = name === 'csv' || name === 'tsv'
      const allowed = [...options, 'at', ...(isTable ? ['quoting'] : [])]
      expect(allowed).toEqual(expect.arrayContaining([...requiredForRows]))
    }
  })
})
