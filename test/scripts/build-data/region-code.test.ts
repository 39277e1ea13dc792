import { describe, expect, it } from 'vitest'
import { RegionCodes } from '../../../scripts/build-data/region-code.ts'
import type { Region, RegionList } from '../../../scripts/build-data/region-list.ts'

const region = (
  code: string,
  parent: string,
  cldr: string[],
  iso = cldr[0] ?? '',
  other: string[] = [],
): Region => ({
  code,
  parent,
  spellings: [cldr, [iso], other],
  names: { en: cldr[0] ?? iso },
  uncorrected: {},
})
const list = (...regions: Region[]): RegionList => new Map(regions.map((one) => [one.code, one]))

describe('the rules', () => {
  const regions = list(
    region('AA-1', 'AA', ['North Shore']),
    region('AA-2', 'AA', ['Vilna County'], 'Vilniaus'),
    region('AA-21', 'AA-2', ['Vilna']),
    region('AA-3', 'AA', ['Twin']),
    region('AA-31', 'AA-1', ['Twin']),
    region('AA-4', 'AA', ['Saint Kitts']),
    region('AA-41', 'AA-4', ['Saint Mary']),
    region('AA-5', 'AA', ['Plain'], 'Llano', ['Ebene']),
    region('AA-61', 'AA-1', ['Same']),
    region('AA-62', 'AA-2', ['Same']),
    region('CC-1', 'CC', ['Plain']),
  )
  const codes = new RegionCodes(regions, {
    'AA|Nickname': 'AA-1',
    'AA|Nowhere': null,
    'AA|North Shore': 'AA-5',
  })

  it.each([
    ['an alias', 'AA', 'Nickname', 'AA-1', 'alias'],
    ['an alias before the lists', 'AA', 'North Shore', 'AA-5', 'alias'],
    ['deliberately none', 'AA', 'Nowhere', null, 'deliberately-none'],
    ['ISO’s name', 'AA', 'Llano', 'AA-5', 'name'],
    ['a name in another language', 'AA', 'Ebene', 'AA-5', 'name'],
    ['without a generic word', 'AA', 'Plain Province', 'AA-5', 'stripped-name'],
    ['the containing region with the same name', 'AA', 'Vilna', 'AA-2', 'name'],
    ['the first-level region of two', 'AA', 'Twin', 'AA-3', 'name'],
    ['not the containing region if both are saints', 'AA', 'Saint Mary', 'AA-41', 'name'],
    ['none of two second-level regions', 'AA', 'Same', null, 'unknown'],
    ['unknown', 'AA', 'Elsewhere', null, 'unknown'],
    ['the region of the country', 'CC', 'Plain', 'CC-1', 'name'],
    ['a country without regions', 'BB', 'Plain', null, 'no-codes'],
  ])('%s', (_, country, name, code, rule) => expect(codes.find(country, name)).toEqual({ code, rule }))

  it('lists unused aliases', () => {
    const fresh = new RegionCodes(regions, { 'AA|Nickname': 'AA-1', 'AA|Nowhere': null })
    fresh.find('AA', 'Nowhere')
    expect(fresh.unusedAliases).toEqual(['AA|Nickname'])
  })

  it.each(['AA-9', 'CC-1', ''])('refuses an alias to a region that the country does not have: %j', (code) => {
    expect(() => new RegionCodes(regions, { 'AA|X': code })).toThrow(/region-aliases\.json: AA\|X has/)
  })
})
