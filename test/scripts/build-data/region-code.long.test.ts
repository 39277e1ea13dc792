// The codes of real regions, from the lists that `npm run build-data -- --install-only` installs.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { RegionCodes } from '../../../scripts/build-data/region-code.ts'
import { type RegionList, readRegions, readSimplifier } from '../../../scripts/build-data/region-list.ts'

const BUILD_DATA = join(import.meta.dirname, '../../../scripts/build-data')
const PACKAGES = join(import.meta.dirname, '../../../.cache/build-data/node_modules')
const readJson = (file: string) => JSON.parse(readFileSync(join(BUILD_DATA, 'input', file), 'utf8'))

describe.skipIf(!existsSync(PACKAGES))(
  'the real lists (skipped until npm run build-data has installed them)',
  () => {
    let regions: RegionList
    let codes: RegionCodes

    beforeAll(async () => {
      regions = await readRegions(PACKAGES, join(BUILD_DATA, 'input'), readJson('region-codes.json'))
      const { $comment: _, ...aliases } = readJson('region-aliases.json')
      codes = new RegionCodes(regions, aliases)
    })

    it.each<[string, string, string | null]>([
      ['DE', 'State of Berlin', 'DE-BE'],
      ['DE', 'Free and Hanseatic City of Hamburg', 'DE-HH'],
      ['FR', 'Ile-de-France', 'FR-IDF'],
      ['FR', 'Rhone-Alpes', 'FR-ARA'], // a region until 2016
      ['FR', 'Province Nord', null], // New Caledonia's, not the department Nord
      ['ES', 'Madrid', 'ES-MD'], // not the province ES-M
      ['ES', 'Valencia', 'ES-VC'], // not the province ES-V
      ['IT', 'Lombardy', 'IT-25'],
      ['CZ', 'Prague', 'CZ-10'],
      ['HU', 'Veszprem', 'HU-VE'], // not the city HU-VM
      ['HR', 'City of Zagreb', 'HR-21'],
      ['HR', 'County of Zagreb', 'HR-01'],
      ['LT', 'Vilnius', 'LT-VL'], // not the district LT-58
      ['BG', 'Sofia', 'BG-23'], // the surrounding district
      ['BG', 'Sofia-grad', 'BG-22'], // the capital
      ['UA', 'Kyiv', 'UA-32'], // the oblast
      ['UA', 'Kyiv City', 'UA-30'],
      ['BY', 'Minsk', 'BY-MI'],
      ['BY', 'Minsk City', 'BY-HM'],
      ['RU', 'Moscow', 'RU-MOW'],
      ['RU', 'Moscow Oblast', 'RU-MOS'],
      ['RU', 'St.-Petersburg', 'RU-SPE'],
      ['NO', 'Akershus', 'NO-32'], // of 2024
      ['NO', 'Finnmark', 'NO-56'],
      ['NO', 'Viken', 'NO-30'], // until 2023
      ['LV', 'Augsdaugava Municipality', 'LV-111'], // of 2021
      ['SG', 'Singapore', null], // none of the five districts
      ['MT', 'Iz-Zebbug', 'MT-65'], // the one on Gozo
      ['MT', 'Haz-Zebbug', 'MT-66'],
      ['TT', 'Mayaro', 'TT-MRC'],
      ['AZ', 'Yevlax City', 'AZ-YE'], // not the district AZ-YEV
      ['KZ', 'Almaty', 'KZ-75'], // the city
      ['KZ', 'Almaty Region', 'KZ-19'],
      ['KZ', 'Nur-Sultan', 'KZ-71'],
      ['IN', 'Telangana', 'IN-TS'], // IN-TG until 2023
      ['IR', 'Tehran', 'IR-23'], // CLDR has it at IR-07, which is Fars today
      ['IR', 'Isfahan', 'IR-10'], // CLDR has it at IR-04, which is West Azerbaijan today
      ['IR', 'Fars', 'IR-07'],
      ['MA', 'Casablanca-Settat', 'MA-06'], // CLDR's MA-06 is Meknès-Tafilalet
      ['MA', 'Marrakesh-Safi', 'MA-07'],
      ['JP', 'Tokyo', 'JP-13'],
      ['TW', 'Taiwan', null], // no ISO region
      ['MX', 'Mexico', 'MX-MEX'], // the surrounding state
      ['AR', 'Buenos Aires', 'AR-B'], // the province
      ['AR', 'Buenos Aires F.D.', 'AR-C'], // the city
      ['KN', 'Saint Mary Cayon', 'KN-08'], // not the island KN-K
      ['ZA', 'Gauteng', 'ZA-GP'],
      ['XK', 'Pristina', null],
      ['PR', 'San Juan', null],
    ])('%s %s is %s', (country, name, code) => expect(codes.find(country, name).code).toBe(code))

    it.each([
      ['FR-IDF', { en: 'Île-de-France', fr: 'Île-de-France' }], // no footnote mark
      ['US-CA', { de: 'Kalifornien', en: 'California', 'zh-CN': '加利福尼亚州' }],
      ['IR-10', { de: 'Isfahan', en: 'Isfahan' }],
      ['IR-04', { en: 'West Azarbaijan' }],
      ['NO-32', { en: 'Akershus', ru: 'Акерсхус' }],
      ['NP-P3', { en: 'Bagmati' }],
      ['UA-59', { en: 'Sumy Oblast' }],
      ['US-AZ', { 'zh-CN': '亚利桑那州' }], // in traditional characters in CLDR
      ['GR-I', { fr: 'Attique', 'zh-CN': '阿提卡' }], // without a label
      ['MT-65', { en: 'Żebbuġ Gozo', 'zh-CN': '泽布季 (戈佐岛)' }], // a label that tells it from MT-66
      ['US-DC', { 'pt-BR': 'Distrito de Colúmbia', ru: 'Округ Колумбия' }],
      ['US-WA', { 'pt-BR': 'Washington', ru: 'Вашингтон' }],
      ['SI-107', { en: 'Rogatec' }], // Japanese writes Logatec the same
    ])('names of %s', (code, names) => expect(regions.get(code)?.names).toMatchObject(names))

    it('does not mix names of renamed regions', () => {
      expect(regions.get('NP-P3')?.names).toEqual({ en: 'Bagmati' })
      expect(regions.get('MA-06')?.names).toEqual({ en: 'Casablanca-Settat' })
    })

    it('has Chinese names in simplified characters', async () => {
      const simplified = await readSimplifier(PACKAGES)
      const names = [...regions.values()].flatMap(({ names }) => names['zh-CN'] ?? [])
      expect(names.length).toBeGreaterThan(4500)
      expect(names.filter((name) => simplified(name) !== name)).toEqual([])
    })

    it('has an English name for every current code, without footnote marks', () => {
      const wrong = [...regions.values()].filter(
        ({ names }) => !names.en || /[²³⁴]/.test(Object.values(names).join()),
      )
      expect(wrong.map(({ code }) => code)).toEqual([])
    })
  },
)
