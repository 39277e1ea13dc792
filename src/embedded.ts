// The databases of this package. This file, and the entries for one database such as city.ts, are at the top of src
// because the built files are at the top of dist: the relative path to data/ is the same.

import type { PlatformUrl } from './realm.ts'

/** The member that marks a URL of an embedded database, in every copy of this package. Its value is the file's name. */
const FILE_NAME = Symbol.for('geofix.embeddedFile')

/** Stands for the folder of code that does not know its own location, such as ESM in a CommonJS bundle. */
export const UNKNOWN_FOLDER = 'file:///unknown/'

/** The files in `data/`. Entries such as `city.ts` repeat the name, because bundlers need a literal. */
const FILES = { city: 'city.mmdb.packed', country: 'country.mmdb.gz', asn: 'asn.mmdb.packed' } as const

/**
 * Makes the URL of an embedded database. Never throws: importing an entry must not fail, and `Resolver.open` has a
 * better message.
 *
 * @param locate throws if the location of its module is unknown. ncc makes it return a path
 */
export function embeddedUrl(name: keyof typeof FILES, locate: (file: string) => URL | string): PlatformUrl {
  const file = FILES[name]
  let url: URL
  try {
    url = new URL(locate(file), UNKNOWN_FOLDER)
  } catch {
    url = new URL(file, UNKNOWN_FOLDER)
  }
  return Object.defineProperty(url, FILE_NAME, { value: file })
}

/** The name of the embedded database's file that a URL is for; `undefined` for other URLs. */
export function embeddedFileOf(url: object): string | undefined {
  const file: unknown = Reflect.get(url, FILE_NAME)
  return typeof file === 'string' ? file : undefined
}

/**
 * URLs of the databases in this package. Bundlers do not see them: in a bundle, import `geofix/city`, `geofix/country` or
 * `geofix/asn`, whose files bundlers copy.
 */
export const embedded: Readonly<Record<keyof typeof FILES, PlatformUrl>> = /* @__PURE__ */ Object.freeze({
  /** Country, region, city, coordinates and time zone. 20 MB in memory for a few lookups, up to 200 MB for many. */
  get city(): PlatformUrl {
    return embeddedUrl('city', besideThisPackage)
  },
  /** Continent and country, and the time zone of countries with only one. 4 MB in memory. */
  get country(): PlatformUrl {
    return embeddedUrl('country', besideThisPackage)
  },
  /** Autonomous systems, for the option `asn`. */
  get asn(): PlatformUrl {
    return embeddedUrl('asn', besideThisPackage)
  },
})

/**
 * The URL is not written as a literal, a template or a sum: bundlers would understand it, and copy all databases into every
 * bundle. The location has a name of its own, because webpack and Rspack warn where `new URL(…, import.meta.url)` has an unknown
 * path.
 */
export function besideThisPackage(file: string): URL {
  const location: string = import.meta.url
  return new URL(['..', 'data', file].join('/'), location)
}
