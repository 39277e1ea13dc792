import { describe, expect, it } from 'vitest'
import { CorrectedNames, type NamedPlace, PlaceNames } from '../../../scripts/build-data/place-names.ts'

const place = (city: string, weight = 1, latitude = 0, country = 'AA', region = 'AA-1'): NamedPlace => ({
  country,
  region,
  city,
  latitude,
  longitude: 0,
  weight,
})

function namesOf(
  places: readonly NamedPlace[],
  rows: Record<string, string | null> = {},
  known: string[] = [],
) {
  const names = new PlaceNames(places, new CorrectedNames(rows), (_, city) => known.includes(city))
  return { names: places.map((each) => names.city(each)), counts: names.counts }
}

describe('PlaceNames', () => {
  it.each<[string, NamedPlace, string, string | null]>([
    ['a name', place('Zapopan'), 'Zapopan', null],
    ['a district', place('Zapopan (Centro)'), 'Zapopan', 'Centro'],
    ['a digit that sticks to the name', place('Zapopan2'), 'Zapopan', null],
    ['not a number of its own', place('Seremban 2'), 'Seremban 2', null],
    ['not a short name with a digit', place('SS2'), 'SS2', null],
    ['a kind of settlement', place('Acueducto [Fraccionamiento]'), 'Acueducto', null],
    ['the same with a district', place('Santa Rosa (Real) [Fraccionamiento]'), 'Santa Rosa', 'Real'],
    ['a district', place('Paris 18 Buttes-Montmartre', 1, 0, 'FR'), 'Paris', 'Paris 18 Buttes-Montmartre'],
    ['one with another district', place('Praha 6 (Praha 8)', 1, 0, 'CZ'), 'Prague', 'Praha 8'],
    ['not in another country', place('Paris 18', 1, 0, 'US'), 'Paris 18', null],
  ])('%s', (_, one, city, district) => expect(namesOf([one]).names).toEqual([{ city, district }]))

  it.each<[string, NamedPlace[], string[], string[]]>([
    ['the more frequent spelling', [place('Wan Chai', 9), place('Wanchai')], [], ['Wan Chai', 'Wan Chai']],
    ['the known one', [place('St Louis', 9), place('St. Louis')], ['St. Louis'], ['St. Louis', 'St. Louis']],
    ['in any case', [place('Kumamoto', 9), place('kumamoto')], [], ['Kumamoto', 'Kumamoto']],
    ['in neighbouring places', [place('Ji’an', 9), place("Ji'an", 1, 0.2)], [], ['Ji’an', 'Ji’an']],
    ['not far from each other', [place('West Ham', 9), place('Westham', 1, 1)], [], ['West Ham', 'Westham']],
    [
      'two regions',
      [place('West Ham', 9), place('Westham', 1, 0, 'AA', 'AA-2')],
      [],
      ['West Ham', 'Westham'],
    ],
    [
      'with or without the word for a city',
      [place('Chiyoda', 2, 0, 'JP'), place('Chiyoda City', 9, 0, 'JP'), place('Chiyoda-ku', 1, 0, 'JP')],
      ['Chiyoda'],
      ['Chiyoda City', 'Chiyoda City', 'Chiyoda City'],
    ],
    [
      'not with such a word in other countries',
      [place('Quezon', 1, 0, 'PH'), place('Quezon City', 9, 0, 'PH')],
      [],
      ['Quezon', 'Quezon City'],
    ],
    ['not other letters', [place('Bergen', 9), place('Berge')], [], ['Bergen', 'Berge']],
  ])('has one name for a city: %s', (_, places, known, expected) => {
    expect(namesOf(places, {}, known).names.map(({ city }) => city)).toEqual(expected)
  })

  it('has one name for a district of a city', () => {
    const places = [
      place('London (St. James’s)', 9),
      place("London (St James's)"),
      place('Paris (St James’s)'),
    ]
    expect(namesOf(places).names.map(({ district }) => district)).toEqual([
      'St. James’s',
      'St. James’s',
      'St James’s',
    ])
  })

  it('takes corrections, before it compares spellings', () => {
    const places = [place('Muroran', 9), place('室蘭'), place('Ct 0012')]
    const { names, counts } = namesOf(places, { 'AA|AA-1|室蘭': 'Muroran', 'AA|AA-1|Ct 0012': null })
    expect(names.map(({ city }) => city)).toEqual(['Muroran', 'Muroran', ''])
    expect(counts).toMatchObject({ spellings: 0, labels: 0, corrected: 2 })
  })

  it('counts spellings and labels', () => {
    expect(namesOf([place('Zapopan', 9), place('Zapopan2'), place('Zápopan')]).counts).toEqual({
      spellings: 1,
      districtSpellings: 0,
      labels: 1,
      corrected: 0,
    })
  })
})

describe('CorrectedNames', () => {
  it('knows which rows were not used', () => {
    const rows = new CorrectedNames({ a: 'A', b: null })
    expect([rows.find('a', 'x'), rows.find('c', 'x')]).toEqual(['A', 'x'])
    expect(rows.unused).toEqual(['b'])
  })
})
