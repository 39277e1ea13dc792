// The script that a user would write without Geofix:
//
//     node script.mjs DATABASE FILE ndjson|access-log record|raw FOLDER
//
// adds a location to every line of FILE and writes NDJSON to standard output: the record that Geofix writes, or with
// `raw` the record of maxmind. FOLDER has maxmind in its node_modules.
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const COMBINED =
  /^(\S+) (\S+) (\S+) \[(\d+)\/(\w+)\/(\d+):(\d+:\d+:\d+) ([+-]\d\d)(\d\d)\] "(\S+) (\S+) (\S+)" (\d+) (\d+|-) "([^"]*)" "([^"]*)"$/

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const [database, file, format, answer, folder] = process.argv.slice(2)
const maxmind = createRequire(join(folder, 'any.js'))('maxmind')
const reader = await maxmind.open(database, { cache: { max: 100_000 } })
const zones = new Map()

const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })
for await (const line of lines) {
  const event = format === 'ndjson' ? JSON.parse(line) : readCombined(line)
  const ip = format === 'ndjson' ? event.client_ip : event.ip
  const time = format === 'ndjson' ? event.ts : event.time
  const found = reader.get(ip)
  event.location = answer === 'raw' ? found : recordOf(ip, found, Date.parse(time))
  if (!process.stdout.write(`${JSON.stringify(event)}\n`)) await once(process.stdout, 'drain')
}

function readCombined(line) {
  const parts = COMBINED.exec(line)
  if (parts === null) throw new Error(`not a log line: ${line}`)
  const [, ip, ident, user, day, monthName, year, clock, hours, minutes, method, target, protocol] = parts
  const [status, bytes, referrer, agent] = parts.slice(13)
  const month = String(MONTHS.indexOf(monthName) + 1).padStart(2, '0')
  return {
    ip,
    ident: textOf(ident),
    user: textOf(user),
    time: `${year}-${month}-${day}T${clock}${hours}:${minutes}`,
    method,
    target,
    protocol,
    status: Number(status),
    bytes: bytes === '-' ? null : Number(bytes),
    referrer: textOf(referrer),
    user_agent: textOf(agent),
  }
}

function textOf(part) {
  return part === '-' ? null : part
}

function recordOf(ip, found, instant) {
  if (found === null) return null
  const { country, subdivisions, city, postal, location } = found
  const region = subdivisions?.[0]
  const code = country?.iso_code ?? null
  const zone = location?.time_zone ?? null
  return {
    ip,
    country: { code, name: country?.names?.en ?? null },
    region: {
      name: region?.names?.en ?? null,
      code: region?.iso_code === undefined ? null : `${code}-${region.iso_code}`,
    },
    city: city?.names?.en ?? null,
    postal_code: postal?.code ?? null,
    coordinates: { latitude: location?.latitude ?? null, longitude: location?.longitude ?? null },
    timezone: { id: zone, offset: zone === null ? null : offsetOf(zone, instant) },
  }
}

/** `+05:30`. Keeps a formatter for each zone, because it takes long to create. */
function offsetOf(zone, instant) {
  let formatter = zones.get(zone)
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
    zones.set(zone, formatter)
  }
  // "6/1/2024, GMT+05:30", but only "GMT" in London in winter.
  return formatter.format(instant).split('GMT')[1] || '+00:00'
}
