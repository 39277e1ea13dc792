import { readFileSync } from 'node:fs'

/** A row of tzdata's zone.tab: a zone of a country, and where its principal place is. */
export type ZoneRow = { readonly zone: string; readonly latitude: number; readonly longitude: number }

/** Kosovo has no ISO 3166-1 code of its own yet, so that zone.tab has no row for the code that DB-IP uses. */
const KOSOVO: ZoneRow = { zone: 'Europe/Belgrade', latitude: 42.67, longitude: 21.17 }

/** The time zones of every country, from tzdata's zone.tab. */
export function readZoneTab(path: string): Map<string, ZoneRow[]> {
  const byCountry = new Map<string, ZoneRow[]>([['XK', [KOSOVO]]])
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line.startsWith('#') || line === '') continue
    const [country = '', coordinates = '', zone = ''] = line.split('\t')
    const rows = byCountry.get(country) ?? []
    rows.push({ zone, ...readCoordinates(coordinates) })
    byCountry.set(country, rows)
  }
  return byCountry
}

/** ISO 6709: `+DDMM+DDDMM` or `+DDMMSS+DDDMMSS`. */
export function readCoordinates(text: string): { latitude: number; longitude: number } {
  const match = /^([+-])(\d\d)(\d\d)(\d\d)?([+-])(\d{3})(\d\d)(\d\d)?$/.exec(text)
  if (match === null) throw new Error(`zone.tab: ${JSON.stringify(text)} are no ISO 6709 coordinates`)
  const degrees = (sign: number): number => {
    const [degree, minute, second] = [match[sign + 1], match[sign + 2], match[sign + 3] ?? '0'].map(Number)
    const value = (degree ?? 0) + (minute ?? 0) / 60 + (second ?? 0) / 3600
    return match[sign] === '-' ? -value : value
  }
  return { latitude: degrees(1), longitude: degrees(5) }
}
