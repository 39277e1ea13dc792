// Counts, shares, durations, sizes and dates in English, for the report and the statistics of `geofix enrich`.

/** Formats by their options as JSON. Creating a format takes longer than using it. */
const FORMATS = new Map<string, Intl.NumberFormat>()

function format(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = JSON.stringify(options)
  const known = FORMATS.get(key) ?? new Intl.NumberFormat('en', options)
  FORMATS.set(key, known)
  return known
}

/** `1,234,567` */
export function countText(count: number): string {
  // Most counts of a table are small, and a format takes a microsecond.
  if (Number.isInteger(count) && count > 0 && count < 1000) return String(count)
  return format({ maximumFractionDigits: 0 }).format(count)
}

/** `1.2M` */
export function shortCountText(count: number): string {
  return format({ notation: 'compact', maximumSignificantDigits: 3 }).format(count)
}

/** `1 line`, `2 lines` */
export function countOf(count: number, one: string, many: string): string {
  return `${countText(count)} ${count === 1 ? one : many}`
}

/** `over 12 cities`, if there are lines in locations that are not listed. */
export function atLeast(count: string, unlisted: number): string {
  return unlisted === 0 ? count : `over ${count}`
}

/** `12.0%`. Only exact shares are 0% or 100%: others are `<0.1%` or `>99.9%`. */
export function shareText(part: number, whole: number): string {
  if (whole <= 0) return '–'
  const share = part / whole
  if (share > 0 && share < 0.001) return '<0.1%'
  if (share < 1 && share > 0.999) return '>99.9%'
  const fractionDigits = share === 0 || share === 1 ? 0 : 1
  return format({
    style: 'percent',
    minimumFractionDigits: fractionDigits,
    maximumFractionDigits: fractionDigits,
  }).format(share)
}

/** `0.84 s`, `12.3 s`, `4 min 10 s`, `2 h 5 min` */
export function durationText(seconds: number): string {
  if (seconds < 10) return `${format({ maximumSignificantDigits: 2 }).format(seconds)} s`
  if (seconds < 60) return `${format({ maximumFractionDigits: 1 }).format(seconds)} s`
  return inTwoUnits(seconds, seconds < 3600 ? [60, 'min', 1, 's'] : [3600, 'h', 60, 'min'])
}

/** `3 days`, `5 hours`, `under a minute` */
export function spanText(milliseconds: number): string {
  const minutes = milliseconds / 60_000
  if (minutes < 1) return 'under a minute'
  if (minutes < 90) return countOf(Math.round(minutes), 'minute', 'minutes')
  if (minutes < 36 * 60) return countOf(Math.round(minutes / 60), 'hour', 'hours')
  return countOf(Math.round(minutes / (24 * 60)), 'day', 'days')
}

function inTwoUnits(
  seconds: number,
  [large, largeName, small, smallName]: [large: number, largeName: string, small: number, smallName: string],
): string {
  const smalls = Math.round(seconds / small)
  const perLarge = large / small
  const rest = smalls % perLarge
  const larges = `${countText(Math.floor(smalls / perLarge))} ${largeName}`
  return rest === 0 ? larges : `${larges} ${rest} ${smallName}`
}

/** `1.4 GB`, in powers of ten. */
export function bytesText(bytes: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const unit = units[power] ?? 'byte'
  return format({
    style: 'unit',
    unit,
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumSignificantDigits: 3,
  }).format(bytes / 1000 ** power)
}

const DAY: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' }
const MINUTE: Intl.DateTimeFormatOptions = {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZone: 'UTC',
}

const DATE_FORMATS = new Map<string, Intl.DateTimeFormat>()

/** A date in British English, with these parts. */
export function dateText(instant: Date, options: Intl.DateTimeFormatOptions): string {
  const key = JSON.stringify(options)
  const known = DATE_FORMATS.get(key) ?? new Intl.DateTimeFormat('en-GB', options)
  DATE_FORMATS.set(key, known)
  return known.format(instant)
}

/** The day in UTC, `5 Jun 2026`; `null` for an invalid date. */
export function dayText(instant: Date): string | null {
  if (Number.isNaN(instant.getTime())) return null
  // British English puts the day before the name of the month, which is unambiguous.
  return dateText(instant, DAY)
}

/** Day and time in UTC, `5 Jun 2026, 13:43`; `null` for an invalid date. */
export function minuteText(instant: Date): string | null {
  if (Number.isNaN(instant.getTime())) return null
  return dateText(instant, { ...DAY, ...MINUTE })
}

/** From the first to the last day, `3 – 5 Mar 2026`, or a single day; `null` for an invalid date. */
export function daysText(first: Date, last: Date): string | null {
  if (Number.isNaN(first.getTime()) || Number.isNaN(last.getTime())) return null
  return new Intl.DateTimeFormat('en-GB', DAY).formatRange(first, last)
}
