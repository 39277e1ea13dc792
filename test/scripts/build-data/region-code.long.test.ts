// The codes of real regions, from the lists that `npm run build-data -- --install-only` installs.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { RegionCodes } from '../../../scripts/build-data/region-code.ts'
import { type RegionList, readRegions, readSimplifier } from '../../../scripts/build-data/region-list.ts'
import { tableOf } from '../../table-of.ts'

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

    it.each(tableOf(import.meta.dirname, 'region-codes.tsv'))('%s %s is %s', (country, name, code) =>
      expect(codes.find(country, name).code ?? '-').toBe(code),
    )

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
