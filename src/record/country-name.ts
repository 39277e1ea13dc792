import { type Locale, localeOf } from './locale.ts'
import { remember } from './remember.ts'

/** Formatters kept at most; each holds a locale's data in native memory. */
const MAX_FORMATTERS = 64

const formatters = new Map<string, Intl.DisplayNames | null>()

/**
 * A country's name from the platform's CLDR data; `null` where the platform has no names in that language
 * or does not know the code.
 *
 * @param code ISO 3166-1 alpha-2, upper case
 */
export function platformCountryName(code: string, locale: Locale): string | null {
  const { platformTag } = locale
  if (platformTag === null) return null
  return remember(formatters, MAX_FORMATTERS, platformTag, makeFormatter)?.of(code) ?? null
}

/** The same in English, for databases that hold codes only. */
export function platformEnglishName(code: string): string | null {
  return platformCountryName(code, localeOf(undefined))
}

function makeFormatter(tag: string): Intl.DisplayNames | null {
  // Without this question the platform would answer in the language of the machine.
  const supported = Intl.DisplayNames.supportedLocalesOf([tag]).length > 0
  return supported ? new Intl.DisplayNames([tag], { type: 'region', fallback: 'none' }) : null
}
