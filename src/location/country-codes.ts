// The codes of countries.
import { quoted } from '../errors.ts'

/** ISO 3166-1 alpha-2, as of 2026, and XK, Kosovo, which is in use everywhere. */
const COUNTRY_CODES: ReadonlySet<string> = /* @__PURE__ */ new Set(
  (
    'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV ' +
    'BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ' +
    'ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE ' +
    'IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY ' +
    'MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU ' +
    'NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM ' +
    'SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE ' +
    'VG VI VN VU WF WS XK YE YT ZA ZM ZW'
  ).split(' '),
)

/** Codes that databases have in place of the one of ISO 3166-1. */
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

/** The codes of a list of countries, in which `EU` stands for the member states. @throws TypeError when no country has a code */
export function countryCodesOf(values: readonly unknown[]): string[] {
  return values.flatMap((value) =>
    String(value).toUpperCase() === 'EU' ? EU_MEMBERS : officialCountryCode(value),
  )
}
