/** The columns that a delimited file can get, in their default order. */
export const LOCATION_FIELDS = [
  'country_code',
  'country_name',
  'region_code',
  'region_name',
  'city',
  'postal_code',
  'latitude',
  'longitude',
  'timezone_id',
  'timezone_offset',
] as const

export type LocationField = (typeof LOCATION_FIELDS)[number]
