import type { LocationRecord, Overlay } from '../../src/index.ts'

/** The record of an overlay with every field. */
export const BERLIN: Overlay['record'] = {
  country: { code: 'DE' },
  region: { code: 'BE', name: 'Berlin' },
  city: 'Berlin',
  postal_code: '01234',
  coordinates: { latitude: 52.52, longitude: 13.405 },
  timezone: { id: 'Europe/Berlin' },
}

/** What a lookup in it gives in summer. */
export function summerInBerlin(ip: string): LocationRecord {
  return {
    ip,
    country: { code: 'DE', name: 'Germany' },
    region: { code: 'DE-BE', name: 'Berlin' },
    city: 'Berlin',
    postal_code: '01234',
    coordinates: { latitude: 52.52, longitude: 13.405 },
    timezone: { id: 'Europe/Berlin', offset: '+02:00' },
  }
}
