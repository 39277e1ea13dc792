/** What the licences of the sources ask for, as one text that can stand alone where the data is used. */
export const ATTRIBUTION =
  'IP Geolocation by DB-IP (https://db-ip.com), licensed under CC BY 4.0 ' +
  '(https://creativecommons.org/licenses/by/4.0/), modified; provided as is, without warranties. ' +
  'Web pages that display or use results must link back to DB-IP.com: ' +
  "<a href='https://db-ip.com'>IP Geolocation by DB-IP</a>. " +
  'Contains data from GeoNames (https://www.geonames.org), CC BY 4.0, modified; from Unicode CLDR ' +
  '(https://cldr.unicode.org), © Unicode, Inc., Unicode License v3 and Unicode-DFS-2016; and from ' +
  'iso-3166 (https://github.com/wooorm/iso-3166), © Titus Wormer, MIT License. ' +
  'List of modifications, licences and notices: data/README.md and data/LICENSES.md of the npm package geofix.'

/** What was done to DB-IP's data (CC BY 4.0 section 3(a)(1)(B) asks us to say so). */
export const MODIFICATIONS: readonly string[] = [
  'The IPv4 and the IPv6 file were combined into one database with the schema of GeoIP2-City.',
  '2002::/16 (6to4) and 2001::/32 (Teredo) were left out; ::ffff:0:0/96 leads to the IPv4 networks.',
  'Names of places were put into Unicode NFC with single spaces.',
  'A quarter in brackets behind the name of a city was made a field of its own, "district".',
  'ISO 3166-2 codes were added by the name of the region; where a code was found, the name was replaced by one spelling per region, in up to eight languages.',
  "Time zones were added: the country's only one, or that of the nearest city of GeoNames in the same country.",
  'Names of countries and continents were added in eight languages.',
  'The country database leaves out everything but continent and country, and merges networks that say the same.',
]
