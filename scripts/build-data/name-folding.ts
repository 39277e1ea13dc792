// Spellings of one region differ in diacritics, apostrophes and generic words: folding takes them away.

/** Latin letters that Unicode does not decompose into a letter and a mark. */
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

/** Lower case without diacritics and apostrophes, words separated by one space. Empty for other scripts. */
export function fold(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[ßæœøłđðþıħəŋ]/g, (letter) => LETTERS[letter] ?? letter)
    .replace(/['’‘ʻʼʿʾ`´ʹ′]/g, '')
    .replace(/\(.*?\)/g, ' ')
    .replace(/&/g, ' and ')
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()
}

/** Words that say what kind of region it is, not which. */
const GENERIC = new Set(
  (
    'state states region regional oblast oblysy province provincia provinsi county municipality municipal municipio ' +
    'governorate department departamento departement district prefecture republic respublika territory krai kray ' +
    'rajons rayon raion novads voblast voblasc voblasts voblasti vilayat wilayah wilaya muhafazat changwat sheng shi ' +
    'autonomous special capital city metropolitan parish canton kanton emirate division island islands commune kommune ' +
    'kommunia apskritis kraj megye judetul zupanija okrug council borough voivodeship urban corporation the of de del la and da do di du des das ' +
    'regiao regione comunidad generalitat kingdom principality free hanseatic qarku rayonu xian tinh thanh pho gov'
  ).split(' '),
)

/** The folded name without generic words; the folded name itself when nothing else would be left. */
export function foldStripped(name: string): string {
  const folded = fold(name)
  const words = folded.split(' ').filter((word) => !GENERIC.has(word))
  return words.length === 0 ? folded : words.join(' ')
}
