import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { LOCALES, type Locale, localeEntries, type Names } from './country-names.ts'
import { groupBy } from './globe.ts'

/** The content of input/region-codes.json. */
export type RegionCorrections = {
  readonly current: Readonly<Record<string, string>>
  readonly cldrCodes: Readonly<Record<string, string | null>>
  readonly renamed: Readonly<Record<string, string>>
  readonly names: Readonly<Record<string, Readonly<Partial<Record<Locale, string | null>>>>>
}

/** A current ISO 3166-2 code with its names. */
export type Region = {
  readonly code: string
  /** The code of the country or of the region that contains it. */
  readonly parent: string
  /** Spellings by source, the best source first: CLDR 48's English, ISO's, CLDR 41's in other languages. */
  readonly spellings: readonly [cldr: string[], iso: string[], other: string[]]
  /** For records: English from CLDR 48, otherwise from ISO; other locales from CLDR 41. */
  readonly names: Names
  /** How the other locales' names are in CLDR 41, before they are corrected. */
  readonly uncorrected: Names
}

/** All regions by code. */
export type RegionList = ReadonlyMap<string, Region>

type IsoEntry = { readonly code: string; readonly name: string; readonly parent: string }

/**
 * Reads the current codes (from iso-3166, and the few that it lacks) with their names.
 *
 * CLDR keeps old codes. Iran and Morocco were renumbered, but CLDR has their names under the old numbers ("Isfahan" is
 * IR-04, which is West Azerbaijan today). `corrections.cldrCodes` maps these.
 *
 * @param packages the folder with iso-3166, cldr-core, cldr-subdivisions-full and opencc-js
 * @param input the folder with region-names.tsv
 * @throws Error if a correction has a code that does not exist
 */
export async function readRegions(
  packages: string,
  input: string,
  corrections: RegionCorrections,
): Promise<RegionList> {
  const { iso31662 }: { iso31662: readonly IsoEntry[] } = await import(
    pathToFileURL(join(packages, 'iso-3166/2.js')).href
  )
  const current = new Map(iso31662.map((entry) => [entry.code, entry] as const))
  for (const [code, name] of Object.entries(corrections.current)) {
    if (current.has(code)) throw new Error(`${code} is in iso-3166 now: remove it from region-codes.json`)
    current.set(code, { code, name, parent: code.slice(0, 2) })
  }
  const { cldrCodes, renamed, names: better } = corrections
  for (const code of [...Object.values(cldrCodes), ...Object.keys(renamed), ...Object.keys(better)]) {
    if (code !== null && !current.has(code))
      throw new Error(`region-codes.json: ${code} is not a current code`)
  }
  const currentOf = cldrToIso(packages, cldrCodes, new Set(current.keys()))
  const english = group(Object.entries(readCldrEnglish(packages)), currentOf)
  const localised = group(Object.entries(readRegionNames(join(input, 'region-names.tsv'))), currentOf)
  const simplified = await readSimplifier(packages)
  const regions = [...current.values()].map(({ code, name, parent }): Region => {
    const cldr = english.get(code)?.map(tidy) ?? []
    const inLocales = localised.get(code) ?? []
    // Other languages would have the old name.
    const uncorrected: Names = renamed[code] === undefined ? Object.assign({}, ...inLocales.toReversed()) : {}
    const chinese = uncorrected['zh-CN']
    const names: Names = {
      ...uncorrected,
      ...(chinese === undefined ? {} : { 'zh-CN': simplified(chinese) }),
      en: renamed[code] ?? cldr[0] ?? tidy(name),
    }
    const other = inLocales.flatMap((one) => Object.values(one))
    return { code, parent, spellings: [cldr, [name], other], names, uncorrected }
  })
  const labelled = withoutLabels(regions)
  return new Map(
    regions.map((region) => {
      const names = { ...region.names, ...labelled.get(region.code), ...better[region.code] }
      return [
        region.code,
        { ...region, names: Object.fromEntries(Object.entries(names).filter(([, name]) => name !== null)) },
      ]
    }),
  )
}

/** A label such as "(province)" in "Duarte (province)". */
const LABEL = /\s*[(（][^()（）]*[)）]$/u

/** Whether a name has a label in parentheses. */
export function isLabelled(name: string): boolean {
  return LABEL.test(name)
}

/** By code: the names that had a label, without it. A label stays where two regions of a country would have one name. */
function withoutLabels(regions: readonly Region[]): Map<string, Names> {
  const found = new Map<string, Record<string, string>>()
  for (const [locale] of localeEntries()) {
    const plain = regions.map(({ code, names }) => ({ code, name: names[locale] ?? names.en ?? '' }))
    const sameName = groupBy(plain, ({ code, name }) => `${code.slice(0, 2)}|${name.replace(LABEL, '')}`)
    for (const [first, ...others] of sameName.values()) {
      if (first === undefined || others.length > 0 || !isLabelled(first.name)) continue
      found.set(first.code, { ...found.get(first.code), [locale]: first.name.replace(LABEL, '') })
    }
  }
  return found
}

/**
 * A converter of Chinese from traditional characters to simplified ones, by the dictionaries of OpenCC. CLDR writes nearly half
 * of the regions in traditional characters. Only the script changes, not the choice of words.
 */
export async function readSimplifier(packages: string): Promise<(name: string) => string> {
  const module: { Converter(options: { from: 't'; to: 'cn' }): (text: string) => string } = await import(
    pathToFileURL(join(packages, 'opencc-js/dist/esm/t2cn.js')).href
  )
  return module.Converter({ from: 't', to: 'cn' })
}

/** Removes ISO's remarks in parentheses (`(EH-partial)`) and CLDR's footnote marks (`Île-de-France²`). */
function tidy(name: string): string {
  return name
    .replace(/ \(.*\)$/, '')
    .replace(/[²³¹⁴-⁹]/g, '')
    .normalize('NFC')
}

/** Groups values by current code, with those of corrected codes first. */
function group<T>(
  entries: readonly [string, T][],
  currentOf: (code: string) => [string, boolean] | null,
): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const [cldr, value] of entries) {
    const [code, corrected] = currentOf(cldr) ?? []
    if (code === undefined) continue
    const values = groups.get(code) ?? []
    if (corrected) values.unshift(value)
    else values.push(value)
    groups.set(code, values)
  }
  return groups
}

/** Maps a CLDR code such as `usca` to its ISO code, and tells whether by a correction. */
function cldrToIso(
  packages: string,
  corrected: Readonly<Record<string, string | null>>,
  current: ReadonlySet<string>,
): (code: string) => [string, boolean] | null {
  const path = join(packages, 'cldr-core/supplemental/aliases.json')
  const json: {
    supplemental: { metadata: { alias: { subdivisionAlias: Record<string, { _replacement: string }> } } }
  } = JSON.parse(readFileSync(path, 'utf8'))
  const aliases = json.supplemental.metadata.alias.subdivisionAlias
  return (cldr) => {
    const correction = corrected[cldr]
    if (correction === null) return null
    if (correction !== undefined) return [correction, true]
    for (const candidate of [cldr, aliases[cldr]?._replacement ?? '']) {
      const code = `${candidate.slice(0, 2)}-${candidate.slice(2)}`.toUpperCase()
      if (current.has(code)) return [code, false]
    }
    return null
  }
}

function readCldrEnglish(packages: string): Record<string, string> {
  const path = join(packages, 'cldr-subdivisions-full/subdivisions/en/en.json')
  const json: { subdivisions: { localeDisplayNames: { subdivisions: Record<string, string> } } } = JSON.parse(
    readFileSync(path, 'utf8'),
  )
  return json.subdivisions.localeDisplayNames.subdivisions
}

/** The names in region-names.tsv, by CLDR code and locale. */
function readRegionNames(path: string): Record<string, Partial<Record<Locale, string>>> {
  const [header = '', ...rows] = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const locales = header.split('\t').slice(1).map(asLocale)
  return Object.fromEntries(
    rows.map((row) => {
      const [code = '', ...names] = row.split('\t')
      return [
        code,
        Object.fromEntries(
          locales.map((locale, i) => [locale, names[i] ?? '']).filter(([, name]) => name !== ''),
        ),
      ]
    }),
  )
}

function asLocale(text: string): Locale {
  const isLocale = (text: string): text is Locale => text in LOCALES
  if (!isLocale(text)) throw new Error(`region-names.tsv: ${text} is not one of the locales`)
  return text
}
