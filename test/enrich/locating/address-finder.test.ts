import { describe, expect, it } from 'vitest'
import { run } from '../world.ts'

const ALB = (client: string) =>
  `https 2026-07-01T12:00:00.123456Z app/web/1 ${client} 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET https://example.com:443/ HTTP/1.1" "curl/8.5.0" TLS_AES_128_GCM_SHA256 TLSv1.3 arn:aws:elasticloadbalancing:eu-west-1:1:targetgroup/web/1`

/** Inputs whose field is an address and a port, with another record before and after. */
const WITH_PORTS: readonly (readonly [format: string, input: (address: string) => string])[] = [
  ['ndjson', (ip) => [`81.2.69.142:1`, ip, '10.0.0.1:2'].map((ip) => JSON.stringify({ ip })).join('\n')],
  ['csv', (ip) => `n,ip\n1,10.0.0.1:1\n2,${ip}\n3,10.0.0.2:2\n`],
  ['list', (ip) => `10.0.0.1:1\n${ip}\n10.0.0.2:2\n`],
  ['aws-alb', (ip) => `${['10.0.0.1:1', ip, '10.0.0.2:2'].map(ALB).join('\n')}\n`],
]

/** The places of an input that begin with GB or US. */
function countries(input: string): string[] {
  const { output } = run(input, { to: 'ndjson' })
  return [...new TextDecoder().decode(output).matchAll(/"country":\{"code":"(\w\w)"/g)].map(
    ([, code = '']) => code,
  )
}

describe('a field that is an address and a port', () => {
  it.each(WITH_PORTS)('has the port after the last colon of an IPv6 address: %s', (_, input) => {
    for (const ip of ['2001:4860:4860::8888:58430', '2001:4860:4860::8888:443', '[2001:4860:4860::8888]:443'])
      expect(countries(input(ip))).toContain('US')
  })

  it('is not one if its IPv4 addresses have no port', () => {
    const { counts } = run('{"ip":"81.2.69.142"}\n{"ip":"2001:4860:4860::8888:58430"}\n{"ip":"10.0.0.1"}\n')
    expect(counts.failed.malformed).toBe(1)
  })
})
