import { describe, expect, it } from 'vitest'
import { fieldsOf, prefersText, recordText } from '../../src/http/fields.ts'
import type { LocationRecord } from '../../src/index.ts'
import { asker, openSample } from './service.ts'

const ask = asker(await openSample())

const LONDON = '/v1/ip/81.2.69.142'

describe('the parameter fields', () => {
  it.each<[fields: string, expected: object]>([
    ['city', { city: 'London' }],
    ['city,country.code', { country: { code: 'GB' }, city: 'London' }],
    ['country', { country: { code: 'GB', name: 'United Kingdom' } }],
    ['timezone.id,timezone.id', { timezone: { id: 'Asia/Tokyo' } }],
    ['ip,coordinates.latitude', { ip: '81.2.69.142', coordinates: { latitude: expect.any(Number) } }],
  ])('chooses members of the record: %s', async (fields, expected) => {
    for (const path of [LONDON, '/v1/ip']) {
      const response = await ask(`${path}?fields=${fields}`, { peer: '81.2.69.142' })
      expect(response.status).toBe(200)
      expect(await response.json()).toEqual(expected)
    }
    const body = JSON.stringify(['81.2.69.142', 'nonsense'])
    const headers = { 'content-type': 'application/json' }
    const batch = await ask(`/v1/ip/batch?fields=${fields}`, { method: 'POST', body, headers })
    const [first, second] = await batch.json()
    expect(first).toEqual(expected)
    expect(second).toMatchObject({ ip: 'nonsense', error: { code: 'MALFORMED_ADDRESS' } })
  })

  it.each(['', 'nothing', 'city,', 'country.', '__proto__', 'constructor', 'country.code.x', 'CITY'])(
    'is refused with another field: "%s"',
    async (fields) => {
      const response = await ask(`${LONDON}?fields=${encodeURIComponent(fields)}`)
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({
        code: 'INVALID_FIELDS',
        detail: expect.stringContaining('country.code'),
      })
    },
  )

  it('does not hide failures, a wrong locale, or that a key is needed', async () => {
    expect((await ask('/v1/ip/10.0.0.1?fields=city')).status).toBe(422)
    expect((await ask(`${LONDON}?fields=city&locale=no%20such`)).status).toBe(400)
    expect((await ask(`${LONDON}?fields=nothing`, { key: null })).status).toBe(401)
  })
})

describe('text', () => {
  const TEXT = { accept: 'text/plain' }
  it.each([
    [`${LONDON}?fields=country.code,city`, 'GB\nLondon\n'],
    [`${LONDON}?fields=city,country.code`, 'London\nGB\n'],
    ['/v1/ip?fields=ip', '81.2.69.142\n'],
    ['/v1/ip/198.41.0.4?fields=city,country.code', '\nUS\n'],
  ])('has a line for each value: %s', async (path, expected) => {
    const response = await ask(path, { peer: '81.2.69.142', headers: TEXT })
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('cache-control')).toBe('private, no-store')
    expect(await response.text()).toBe(expected)
  })

  it('has all fields with their names if none are chosen', async () => {
    const text = await (await ask(LONDON, { headers: TEXT })).text()
    expect(text.split('\n')).toHaveLength(12)
    expect(text).toMatch(/^ip: 81\.2\.69\.142\ncountry\.code: GB\n/)
  })

  it.each<[accept: string | null, expected: boolean]>([
    [null, false],
    ['*/*', false],
    ['text/plain', true],
    ['text/*', true],
    ['TEXT/PLAIN; charset=utf-8', true],
    ['text/html', false],
    ['text/plain, application/json', false],
    ['text/plain;q=0.5, application/json', false],
    ['application/json;q=0.1, text/plain', true],
    ['text/plain, */*;q=0.1', true],
    ['text/plain;q=0', false],
    ['application/json, text/plain, */*', false],
    ['text/plain;q=x', false],
    ['text/html,application/xhtml+xml,*/*;q=0.8', false],
  ])('is preferred by Accept: %s: %s', (accept, expected) => {
    expect(prefersText(accept)).toBe(expected)
  })

  it('is one line for each value, whatever the database has', () => {
    const city = 'a\nb\r\u001b[31m\u2028\u202e'
    const record: LocationRecord = {
      ip: '1.1.1.1',
      country: { code: null, name: null },
      region: { code: null, name: null },
      city,
      postal_code: null,
      coordinates: { latitude: 0, longitude: null },
      timezone: { id: null, offset: null },
    }
    const fields = fieldsOf('city,coordinates')
    if (!Array.isArray(fields)) throw new Error('no fields')
    expect(recordText(record, fields)).toBe('a\ufffdb\ufffd\ufffd[31m\ufffd\ufffd\n0\n\n')
  })
})
