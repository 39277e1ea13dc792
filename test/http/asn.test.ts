import { describe, expect, it, vi } from 'vitest'
import { createHandler } from '../../src/http.ts'
import { Resolver } from '../../src/index.ts'
import { ASN_DATABASE, asker, batchOf, DATABASE, openSample } from './service.ts'

const geo = await Resolver.open(DATABASE, { asn: ASN_DATABASE })
const ask = asker(geo, { asn: true })
const [LONDON, OSAKA, CHIYODA] = ['81.2.69.142', '2001:4860::1', '133.11.93.3'] as const
const expected = (ip: string) => JSON.stringify({ ...geo.lookup(ip), asn: geo.asn(ip) })

describe('the option asn', () => {
  it.each([LONDON, OSAKA, CHIYODA, '2002:5102:458e::1'])('adds the member to the record: %s', async (ip) => {
    expect(await (await ask(`/v1/ip/${ip}`)).text()).toBe(expected(ip))
    expect(await (await ask('/v1/ip', { peer: ip })).text()).toBe(expected(ip))
  })

  it('adds it to each record of a batch, and not to failures', async () => {
    const ips = [LONDON, '10.0.0.1', 'nonsense', OSAKA, '9.9.9.9', CHIYODA, LONDON]
    const response = await ask('/v1/ip/batch', batchOf(ips))
    const wanted = geo
      .lookupMany(ips)
      .map((result) => ('error' in result ? result : { ...result, asn: geo.asn(result.ip) }))
    expect(await response.text()).toBe(JSON.stringify(wanted))
  })

  it.each<[string, object]>([
    ['asn', { asn: geo.asn(LONDON) }],
    ['asn.number,city', { city: 'London', asn: { number: 20712 } }],
    [
      'asn.organization,asn.network',
      { asn: { organization: 'Andrews & "Arnold" Ltd ü', network: '81.2.64.0/19' } },
    ],
  ])('gives the fields %s', async (fields, part) => {
    expect(await (await ask(`/v1/ip/${LONDON}?fields=${fields}`)).json()).toEqual(part)
    const [one, none] = await (await ask(`/v1/ip/batch?fields=${fields}`, batchOf([LONDON, CHIYODA]))).json()
    expect(one).toEqual(part)
    expect(none).toEqual({ ...(fields.includes('city') ? { city: 'Chiyoda' } : {}), asn: null })
  })

  it('gives lines of text', async () => {
    const text = async (path: string) => (await ask(path, { headers: { accept: 'text/plain' } })).text()
    expect(await text(`/v1/ip/${LONDON}?fields=asn`)).toBe('20712\nAndrews & "Arnold" Ltd ü\n81.2.64.0/19\n')
    expect(await text(`/v1/ip/${CHIYODA}?fields=asn`)).toBe('\n\n\n')
    expect(await text(`/v1/ip/${LONDON}`)).toContain('\nasn.number: 20712\n')
  })

  it('is off by default', async () => {
    const plain = asker(geo)
    expect(await (await plain(`/v1/ip/${LONDON}`)).text()).toBe(JSON.stringify(geo.lookup(LONDON)))
    const refused = await plain(`/v1/ip/${LONDON}?fields=asn`)
    expect([refused.status, (await refused.json()).detail]).toEqual([
      400,
      expect.not.stringContaining('asn.'),
    ])
    const text = await plain(`/v1/ip/${LONDON}`, { headers: { accept: 'text/plain' } })
    expect(await text.text()).not.toContain('asn')
  })

  it('needs a database for it, and is true or false', async () => {
    const without = await openSample()
    expect(() => createHandler(without, { authenticate: null, asn: true })).toThrow(
      'asn needs a resolver with a database of autonomous systems: open it with the option asn',
    )
    const wrong = { authenticate: null, asn: 'yes' }
    expect(() => Reflect.apply(createHandler, undefined, [geo, wrong])).toThrow('asn must be true or false')
  })

  it('answers 500 where the database is damaged', async () => {
    const [bytes, onError] = [ASN_DATABASE.slice(), vi.fn()]
    const asked = asker(await Resolver.open(DATABASE, { asn: bytes }), { asn: true, onError })
    // The name of an organization, and what says how long it is.
    const name = Buffer.from(bytes.buffer).indexOf('Andrews')
    bytes.fill(0xff, name - 1, name + 7)
    expect((await asked(`/v1/ip/${LONDON}`)).status).toBe(500)
    expect((await asked('/v1/ip', { peer: LONDON })).status).toBe(500)
    expect((await asked('/v1/ip/batch', batchOf([LONDON]))).status).toBe(500)
    expect(onError).toHaveBeenCalledTimes(3)
  })
})
