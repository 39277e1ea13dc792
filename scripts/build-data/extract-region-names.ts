// Rebuilds input/region-names.tsv from Debian's unicode-cldr-core (CLDR 41):
//
//   apt-get install unicode-cldr-core
//   npx tsx scripts/build-data/extract-region-names.ts
//
// The JSON packages of CLDR on npm contain only reviewed names (three regions for most locales). Nearly all names are
// drafts, which only the XML contains.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const SUBDIVISIONS = '/usr/share/unicode/cldr/common/subdivisions'
const INPUT = join(import.meta.dirname, 'input')

/** GeoIP2's locale and CLDR's file. The build takes English names from CLDR 48. */
const LOCALES = [
  ['de', 'de'],
  ['es', 'es'],
  ['fr', 'fr'],
  ['ja', 'ja'],
  ['pt-BR', 'pt'],
  ['ru', 'ru'],
  ['zh-CN', 'zh'],
] as const

const NOTICE = [
  '# Copyright © 1991-2022 Unicode, Inc. SPDX-License-Identifier: Unicode-DFS-2016 (see data/LICENSES.md)',
  '# From Unicode CLDR 41 (common/subdivisions); made by scripts/build-data/extract-region-names.ts.',
]

function namesOf(locale: string): Map<string, string> {
  const xml = readFileSync(join(SUBDIVISIONS, `${locale}.xml`), 'utf8')
  const names = new Map<string, string>()
  for (const [, code = '', text = ''] of xml.matchAll(/<subdivision type="(\w+)"[^>]*>([^<]*)</g)) {
    const name = cleaned(text)
    if (name !== '') names.set(code, name)
  }
  return names
}

/** Removes the footnote marks ("Île-de-France²") by which CLDR distinguishes regions of the same name. */
function cleaned(text: string): string {
  return text
    .replaceAll('&apos;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replace(/[²³¹⁴-⁹]/g, '')
    .replaceAll('↑↑↑', '')
    .normalize('NFC')
    .trim()
}

const byLocale = LOCALES.map(([locale, file]) => [locale, namesOf(file)] as const)
const codes = [...new Set(byLocale.flatMap(([, names]) => [...names.keys()]))].sort()
writeFileSync(
  join(INPUT, 'region-names.tsv'),
  `${[
    ...NOTICE,
    ['code', ...LOCALES.map(([locale]) => locale)].join('\t'),
    ...codes.map((code) => [code, ...byLocale.map(([, names]) => names.get(code) ?? '')].join('\t')),
  ].join('\n')}\n`,
)

console.log(`${codes.length} regions named`)
