// Stands at the top of src because the built files stand at the top of dist: the way to data/ is the same
// from both. In this form bundlers recognise the files as assets.

/**
 * The databases that the package carries, as URLs relative to this module. Where a bundler or an archive
 * breaks that, copy the files of `geofix/data/` and open them by path or as bytes.
 */
export const embedded = Object.freeze({
  /** Country, region, city, coordinates and time zone. 100 MB in memory. */
  get city(): URL {
    return new URL('../data/city.mmdb.gz', import.meta.url)
  },
  /** Continent and country, and the time zone of countries that have just one. 4 MB in memory. */
  get country(): URL {
    return new URL('../data/country.mmdb.gz', import.meta.url)
  },
})
