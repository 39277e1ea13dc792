// npm run demo: looks up addresses in the embedded database, with explanations.
import { isLookupFailure, type LocationRecord, Resolver } from '../src/index.ts'

const ADDRESSES = [
  ['81.2.69.142', 'IPv4, United Kingdom'],
  ['200.160.2.3', 'IPv4, Brazil'],
  ['133.11.93.3', 'IPv4, Japan'],
  ['2607:f8b0:4005:805::200e', 'IPv6, United States'],
  ['2a01:e0a::1', 'IPv6, France'],
] as const

const BATCH = ['46.4.0.1', '10.0.0.1', '2001:db8::1', '010.0.0.1', 'nonsense', '::ffff:8.8.8.8']

const heading = (text: string): void => console.log(`\n\x1b[1m${text}\x1b[0m`)

console.log('Geofix looks up the location of IP addresses in this process, in a database on this disk.')
const started = performance.now()
const geo = await Resolver.open()
const [database] = geo.databases
console.log(
  `Opened ${database?.type} of ${database?.buildDate?.toISOString().slice(0, 10)} in ${Math.round(performance.now() - started)} ms. From here on it uses no network.`,
)

heading('The record of one address:')
console.log(geo.lookup('81.2.69.142'))

for (const locale of ['en', 'ja']) {
  heading(`Several addresses with names in "${locale}":`)
  console.table(
    Object.fromEntries(ADDRESSES.map(([ip, what]) => [ip, { what, ...brief(geo.lookup(ip, { locale })) }])),
  )
}

heading('A batch returns one result per item, in order. A failure has a reason and does not stop the batch:')
for (const result of geo.lookupMany(BATCH)) {
  console.log(
    isLookupFailure(result) ? `  ✗ ${result.error.code}: ${result.error.message}` : `  ✓ ${line(result)}`,
  )
}

heading('The UTC offset depends on the time zone and on daylight saving time:')
for (const at of ['2026-01-01T12:00:00Z', '2026-07-01T12:00:00Z']) {
  const offsets = ADDRESSES.slice(0, 3).map(([ip]) => {
    const { timezone } = geo.lookup(ip, { at: new Date(at) })
    return `${timezone.id} ${timezone.offset}`
  })
  console.log(`  ${at}: ${offsets.join(', ')}`)
}

heading('The data and its licence:')
console.log(`  ${database?.attribution}`)

function brief({ country, region, city, coordinates }: LocationRecord) {
  const { latitude, longitude } = coordinates
  return { country: country.name, region: region.name, city, place: `${latitude}, ${longitude}` }
}

function line({ ip, country, region, city, timezone }: LocationRecord): string {
  return `${ip}: ${[city, region.name, country.name].filter(Boolean).join(', ')} (${timezone.id})`
}
