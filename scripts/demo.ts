// npm run demo: the library with a few addresses, then a log as a table in the terminal and as a report with a map.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../src/cli/program.ts'
import { isLookupFailure, Resolver } from '../src/index.ts'

const LINES = 3000

console.log('1. The library: await Resolver.open(), then geo.lookup(ip), without a network call.\n')
const geo = await Resolver.open(undefined, { asn: true })
console.log(geo.lookup('81.2.69.142'))
console.log()
for (const result of geo.lookupMany(['133.11.93.3', '2a01:e0a::1', '10.0.0.1', 'nonsense'])) {
  if (isLookupFailure(result)) console.log(result.error.message)
  else {
    const { ip, city, country, timezone } = result
    console.log(`${ip}: ${city}, ${country.name}, UTC${timezone.offset}, ${geo.asn(ip)?.organization}`)
  }
}

const folder = mkdtempSync(join(tmpdir(), 'geofix-demo-'))
const [log, report] = [join(folder, 'access.log'), join(folder, 'report.html')]
writeFileSync(log, [...requests()].join(''))

console.log(`\n2. A log of ${LINES} requests from random addresses: geofix count --top 8 access.log\n`)
await run(['count', '--top', '8', '--quiet', log], process)

console.log('\n3. Its report: geofix enrich access.log -o places.ndjson --summary html=report.html\n')
await run(
  ['enrich', log, '-o', join(folder, 'places.ndjson'), '--summary', `html=${report}`, '--quiet'],
  process,
)
console.log(`Open ${report} in a browser. It has a map and loads nothing from the network.`)
console.log(`\n${geo.databases[0]?.attribution?.split(',')[0]}`)
geo.close()

/** Lines of an access log, the same ones in each run: two days of requests. */
function* requests(): Generator<string> {
  let state = 7
  const random = (below: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 16) % below
  }
  for (let index = 0; index < LINES; index++) {
    const ip = `${random(222) + 1}.${random(256)}.${random(256)}.${random(256)}`
    const time = new Date(Date.UTC(2026, 6, 1) + index * 57_600).toISOString()
    const at = `${time.slice(8, 10)}/Jul/2026:${time.slice(11, 19)} +0000`
    const path = ['/', '/docs', '/blog/maps', '/assets/app.js', '/favicon.ico'][random(5)]
    const status = random(20) === 0 ? 404 : 200
    yield `${ip} - - [${at}] "GET ${path} HTTP/1.1" ${status} ${random(9000)} "-" "Mozilla/5.0"\n`
  }
}
