// Sends requests from a process of its own: node load.mjs ORIGIN KEY one|batch SECONDS RATE CONNECTIONS
// RATE 0 is as fast as possible. Prints the rate of good answers and the 99th percentile of their latency.
import autocannon from 'autocannon'

const [, , origin, key, mode, seconds, rate, connections] = process.argv
const byte = () => Math.floor(Math.random() * 256)
// Mostly addresses that have a location; the others cost an answer too.
const address = () => `${1 + Math.floor(Math.random() * 222)}.${byte()}.${byte()}.${byte()}`
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

const requests =
  mode === 'one'
    ? Array.from({ length: 5000 }, () => ({ method: 'GET', path: `/v1/ip/${address()}`, headers }))
    : Array.from({ length: 50 }, () => ({
        method: 'POST',
        path: '/v1/ip/batch',
        headers,
        body: JSON.stringify(Array.from({ length: 1000 }, address)),
      }))

const result = await autocannon({
  url: origin,
  connections: Number(connections),
  duration: Number(seconds),
  requests,
  ...(Number(rate) > 0 ? { overallRate: Number(rate) } : {}),
})
const wrong = Object.keys(result.statusCodeStats).filter((status) => status !== '200' && status !== '422')
if (wrong.length > 0) throw new Error(`answers with status ${wrong.join(', ')}`)
console.log(JSON.stringify({ rate: result.requests.average, p99: result.latency.p99 }))
