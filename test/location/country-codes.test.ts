import { iso31661 } from 'iso-3166'
import { describe, expect, it } from 'vitest'
import { countryCodeOf, countryCodesOf, officialCountryCode } from '../../src/location/country-codes.ts'

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']

describe('countryCodeOf', () => {
  it('keeps exactly the codes that ISO 3166-1 assigns, and XK', () => {
    const assigned = iso31661.filter(({ state }) => state === 'assigned').map(({ alpha2 }) => alpha2)
    const pairs = letters.flatMap((first) => letters.map((second) => first + second))
    const kept = pairs.filter((code) => countryCodeOf(code) === code)
    expect(kept).toEqual([...assigned, 'XK'].sort())
  })

  it.each<[code: string | null, expected: string | null]>([
    ['gb', 'GB'],
    ['uk', 'GB'],
    ...['EU', 'AP', 'ZZ', 'A1', 'AN', 'XX', '', 'GBR', '826', 'ı̈t', 'DE '].map((code): [string, null] => [
      code,
      null,
    ]),
    [null, null],
  ])('%j is %j', (code, expected) => {
    expect(countryCodeOf(code)).toBe(expected)
  })
})

describe('officialCountryCode', () => {
  it('takes codes in any case, and names the code that is meant', () => {
    expect(officialCountryCode('de')).toBe('DE')
    expect(() => officialCountryCode('uk')).toThrow(
      new TypeError('"uk" is not the ISO 3166-1 code: write GB'),
    )
    for (const code of ['EU', 'Germany', 7]) expect(() => officialCountryCode(code)).toThrow(TypeError)
  })
})

describe('countryCodesOf', () => {
  it('has the member states for EU, beside other codes', () => {
    const names = new Intl.DisplayNames(['en'], { type: 'region' })
    // As the European Union lists them.
    const members =
      'Austria Belgium Bulgaria Croatia Cyprus Czechia Denmark Estonia Finland France Germany Greece Hungary Ireland Italy ' +
      'Latvia Lithuania Luxembourg Malta Netherlands Poland Portugal Romania Slovakia Slovenia Spain Sweden'
    expect(
      countryCodesOf(['eu'])
        .map((code) => names.of(code))
        .sort(),
    ).toEqual(members.split(' '))
    expect(countryCodesOf(['gb', 'EU', 'NO'])).toHaveLength(29)
    expect(() => countryCodesOf(['DE', 'ZZ'])).toThrow('"ZZ" is not an ISO 3166-1 alpha-2 code')
  })
})
