/** DB-IP's name of a city, split into its parts. */
export type CityName = {
  /** `''` if the source has none. */
  readonly city: string
  /** The district that DB-IP writes in parentheses after the city, or `null`. */
  readonly district: string | null
}

/** Converts to NFC and replaces white space by single spaces. The spelling stays. */
export function normaliseName(name: string): string {
  return name.normalize('NFC').replace(/\s+/g, ' ').trim()
}

/**
 * Splits `Los Angeles (Playa Vista)` into the city Los Angeles and the district Playa Vista. {@link joinCity} is the
 * inverse. A name that consists only of parentheses stays whole.
 */
export function splitCity(name: string): CityName {
  const normal = normaliseName(name)
  const match = /^([^()]+) \((.+)\)$/.exec(normal)
  const [, city, district] = match ?? []
  if (city === undefined || district === undefined) return { city: normal, district: null }
  return { city, district }
}

/** The name in the source. */
export function joinCity({ city, district }: CityName): string {
  return district === null ? city : `${city} (${district})`
}

/** Latin letters that Unicode does not decompose. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ħ: 'h',
  ə: 'a',
  ŋ: 'ng',
}

/**
 * Lower case without diacritics and apostrophes, with single spaces between words: spellings of a region differ in
 * these. Empty for other scripts than Latin.
 */
export function fold(name: string): string {
  return plainLetters(name)
    .replace(/['’‘ʻʼʿʾ`´ʹ′]/g, '')
    .replace(/\(.*?\)/g, ' ')
    .replace(/&/g, ' and ')
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()
}

/** In lower case, without diacritics. */
function plainLetters(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[ßæœøłđðþıħəŋ]/g, (letter) => LETTERS[letter] ?? letter)
}

/** What spellings of a city have in common: they differ in case, diacritics, spaces, hyphens, apostrophes and "Saint". */
export function nameKey(name: string): string {
  return plainLetters(name)
    .replace(/\bsaint(e?)\b/g, 'st$1')
    .replace(/[^\p{L}\p{N}]+/gu, '')
}

/** Words for kinds of regions. */
const GENERIC_WORDS = new Set(
  (
    'state states region regional oblast oblysy province provincia provinsi county municipality municipal municipio ' +
    'governorate department departamento departement district prefecture republic respublika territory krai kray ' +
    'rajons rayon raion novads voblast voblasc voblasts voblasti vilayat wilayah wilaya muhafazat changwat sheng shi ' +
    'autonomous special capital city metropolitan parish canton kanton emirate division island islands commune kommune ' +
    'kommunia apskritis kraj megye judetul zupanija okrug council borough voivodeship urban corporation the of de del la and da do di du des das ' +
    'regiao regione comunidad generalitat kingdom principality free hanseatic qarku rayonu xian tinh thanh pho gov'
  ).split(' '),
)

/** The folded name without generic words, unless it consists of them. */
export function foldStripped(name: string): string {
  const folded = fold(name)
  const words = folded.split(' ').filter((word) => !GENERIC_WORDS.has(word))
  return words.length === 0 ? folded : words.join(' ')
}
