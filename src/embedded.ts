// This file is at the top of src because the built files are at the top of dist: the relative path to data/ is the
// same. Bundlers recognise `new URL('…', import.meta.url)` as an asset.

/**
 * URLs of the two databases in this package, relative to this module. If a bundler or an archive breaks them, copy
 * the files of `geofix/data/` and open them by path or as bytes.
 */
export const embedded = Object.freeze({
  /** Country, region, city, coordinates and time zone. 100 MB in memory. */
  get city(): URL {
    return new URL('../data/city.mmdb.gz', import.meta.url)
  },
  /** Continent and country, and the time zone of countries with only one. 4 MB in memory. */
  get country(): URL {
    return new URL('../data/country.mmdb.gz', import.meta.url)
  },
})
