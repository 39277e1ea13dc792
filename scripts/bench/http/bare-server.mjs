// The peer: node:http, which answers every request with one body of the usual size. Prints its port.
import { createServer } from 'node:http'

const record = {
  ip: '81.2.69.142',
  country: { code: 'GB', name: 'United Kingdom' },
  region: { name: 'England', code: 'GB-ENG' },
  city: 'London',
  postal_code: null,
  coordinates: { latitude: 51.5143, longitude: -0.0912244 },
  timezone: { id: 'Europe/London', offset: '+00:00' },
}
const body = JSON.stringify(record)
const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
const server = createServer((_, response) => {
  response.writeHead(200, headers)
  response.end(body)
})
server.listen(0, '127.0.0.1', () => console.error(`listening at http://127.0.0.1:${server.address().port}/`))
