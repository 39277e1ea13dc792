// The Gregorian calendar, also before it was introduced (ISO 8601). `Date.UTC` is slower.

/** @param month 1 to 12 */
export function daysInMonth(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
}

/** Days from 1970-01-01 to a day that there is; years are counted from March, so that leap days come last. */
export function daysSince1970(year: number, month: number, day: number): number {
  const years = month <= 2 ? year - 1 : year
  const months = month <= 2 ? month + 9 : month - 3
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400)
  return years * 365 + leapDays + Math.floor((months * 153 + 2) / 5) + day - 719_469
}
