// The script that a user would write without Geofix:
//
//     node script.mjs DATABASE FILE access-log|ndjson|csv FOLDER
//
// writes each line of FILE as it is, with six more fields: after tabs, or after commas in CSV. It finds the address as
// plainly as the format allows. FOLDER has maxmind in its node_modules.
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const ADDRESS = {
  'access-log': (line) => line.slice(0, line.indexOf(' ')),
  ndjson: (line) => /"client":{"ip":"([^"]*)"/.exec(line)?.[1],
  csv: (line) => line.split(',', 2)[1],
}

const [database, file, format, folder] = process.argv.slice(2)
const maxmind = createRequire(join(folder, 'any.js'))('maxmind')
const reader = await maxmind.open(database, { cache: { max: 100_000 } })
const addressOf = ADDRESS[format]
const separator = format === 'csv' ? ',' : '\t'

const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })
for await (const line of lines) {
  if (!process.stdout.write(`${line}${separator}${fieldsOf(addressOf(line)).join(separator)}\n`))
    await once(process.stdout, 'drain')
}

function fieldsOf(ip) {
  const found = ip === undefined || !maxmind.validate(ip) ? null : reader.get(ip)
  if (found === null) return ['', '', '', '', '', '']
  const { country, subdivisions, city, location } = found
  return [
    country?.iso_code ?? '',
    subdivisions?.[0]?.iso_code ?? '',
    city?.names?.en ?? '',
    location?.latitude ?? '',
    location?.longitude ?? '',
    location?.time_zone ?? '',
  ]
}
