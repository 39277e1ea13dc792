// The codes of countries.
import { quoted } from '../errors.ts'

/**
 * ISO 3166-1 alpha-2, as of 2026, and XK, Kosovo, which is in use everywhere: the first letter of codes, then the second letters,
 * since the list is in every bundle for browsers.
 */
const LETTERS =
  'ADEFGILMOQRSTUWXZ BABDEFGHIJLMNOQRSTVWYZ CACDFGHIKLMNORUVWXYZ DEJKMOZ ECEGHRST FIJKMOR ' +
  'GABDEFGHILMNPQRSTUWY HKMNRTU IDELMNOQRST JEMOP KEGHIMNPRWYZ LABCIKRSTUVY MACDEFGHKLMNOPQRSTUVWXYZ ' +
  'NACEFGILOPRUZ OM PAEFGHKLMNRSTWY QA REOSUW SABCDEGHIJKLMNORSTVXYZ TCDFGHJKLMNORTVWZ UAGMSYZ ' +
  'VACEGINU WFS XK YET ZAMW'

const COUNTRY_CODES: ReadonlySet<string> = /* @__PURE__ */ new Set(
  /* @__PURE__ */ LETTERS.split(' ').flatMap(([first = '', ...seconds]) =>
    seconds.map((second) => first + second),
  ),
)

/** Codes that databases have instead of the code of ISO 3166-1. */
const OTHER_CODES: ReadonlyMap<string, string> = /* @__PURE__ */ new Map([['UK', 'GB']])

/**
 * The ISO 3166-1 code for a code of a database; `null` for others. Vendors write EU and AP for areas, A1 and A2 for kinds of
 * networks, ZZ for unknown countries, and codes that were withdrawn, such as AN.
 */
export function countryCodeOf(code: string | null): string | null {
  const upper = code?.toUpperCase() ?? ''
  const official = OTHER_CODES.get(upper) ?? upper
  return COUNTRY_CODES.has(official) ? official : null
}

/** The ISO 3166-1 alpha-2 code in capitals. @throws TypeError when no country has it */
export function officialCountryCode(value: unknown): string {
  const code = typeof value === 'string' ? countryCodeOf(value) : null
  if (code === null) {
    throw new TypeError(`${quoted(String(value))} is not an ISO 3166-1 alpha-2 code: write one such as DE`)
  }
  if (code !== String(value).toUpperCase())
    throw new TypeError(`${quoted(String(value))} is not the ISO 3166-1 code: write ${code}`)
  return code
}

/**
 * The member states of the European Union on 26 November 2026; 27 since 1 February 2020. Source:
 * https://european-union.europa.eu/principles-countries-history/eu-countries_en
 */
const EU_MEMBERS: readonly string[] =
  /* @__PURE__ */ 'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(
    ' ',
  )

/** Codes of territories of members that are part of the Union: articles 349 and 355 of its treaty on functioning. */
const EU_TERRITORIES: readonly string[] = /* @__PURE__ */ 'AX GF GP MF MQ RE YT'.split(' ')

/** Whether a country, or a territory with a code of its own, is part of the European Union; `null` for none. */
export function isInEuropeanUnion(code: string | null): boolean | null {
  return code === null ? null : EU_MEMBERS.includes(code) || EU_TERRITORIES.includes(code)
}

/** The codes of a list of countries, in which `EU` stands for the member states. @throws TypeError when no country has a code */
export function countryCodesOf(values: readonly unknown[]): string[] {
  return values.flatMap((value) =>
    String(value).toUpperCase() === 'EU' ? EU_MEMBERS : officialCountryCode(value),
  )
}
