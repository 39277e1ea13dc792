import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { parse } from 'parse5'
import { afterAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../temporary.ts'
import { ask, KEYS, type Service, serve } from './running.ts'

const folder = temporaryFolder()
const keyed = await serve(folder, {}, afterAll)
const open = await serve(folder, { keys: null }, afterAll)

async function page(service: Service, path: string, form?: Record<string, string>) {
  return ask(service.origin + path, {
    method: form === undefined ? 'GET' : 'POST',
    headers: {
      'x-forwarded-for': '81.2.69.142',
      ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    body: form === undefined ? null : new URLSearchParams(form).toString(),
  })
}

describe('the page', () => {
  it('is HTML with a form, that loads nothing and runs nothing', async () => {
    const { status, headers, text } = await page(open, '/')
    expect(status).toBe(200)
    const errors: unknown[] = []
    parse(text, { onParseError: (error) => errors.push(error) })
    expect(errors).toEqual([])
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(text) ?? []
    const digest = createHash('sha256').update(style).digest('base64')
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain(`style-src 'sha256-${digest}'`)
    expect(text).not.toMatch(/<script|<img|<link|\son\w+=|\sstyle=|\ssrc=/)
    expect(headers['cache-control']).toBe('private, no-store')
    expect(text).not.toContain('name="key"')
  })

  it('is there after a form that ended early', async () => {
    const { port, hostname } = new URL(open.origin)
    const socket = connect(Number(port), hostname)
    socket.write('POST / HTTP/1.1\r\nHost: geo.example\r\nContent-Length: 100\r\n\r\nip=81.2')
    await delay(20)
    socket.destroy()
    await delay(20)
    expect((await page(open, '/')).status).toBe(200)
  })

  it('shows a record, its point and the database', async () => {
    const { status, text } = await page(open, '/?ip=133.11.93.3&locale=de')
    expect(status).toBe(200)
    for (const part of ['Chiyoda', 'Gebiet', 'JP-13', '51.5, -0.25', 'Asia/Tokyo', '+09:00', 'Sample-City']) {
      expect(text).toContain(part)
    }
    expect(text).toMatch(/<path class="land" d="(M[^M"]+){200,}"/)
    expect(text).toMatch(/<circle class="dot" cx="[\d.]+" cy="[\d.]+"/)
    expect(text).toContain('Ein &quot;Land&quot;')
    expect((await page(open, '/?ip=')).text).toContain('London')
  })

  it('shows a record of which little is known', async () => {
    const { status, text } = await page(open, '/?ip=198.41.0.4')
    expect(status).toBe(200)
    expect(text).toContain('United States')
    expect(text).toContain('the position is unknown')
    expect(text).not.toContain('class="dot"')
    expect(text.split('>unknown<').length - 1).toBe(5)
  })

  it.each([
    ['/?ip=10.0.0.1', 422, 'cannot be resolved'],
    ['/?ip=%3Cscript%3E', 400, 'malformed'],
    ['/?ip=batch', 400, 'malformed'],
    ['/?ip=81.2.69.0%2F24', 400, 'malformed'],
    [`/?ip=${'1'.repeat(5000)}`, 400, 'malformed'],
    ['/?ip=81.2.69.142&locale=no%20such', 400, 'BCP 47'],
  ])('shows what is wrong: %s', async (path, status, message) => {
    const answer = await page(open, path)
    expect(answer.status).toBe(status)
    expect(answer.text).toContain(message)
    expect(answer.text).not.toContain('<script>')
  })

  it('asks for a key where one is needed, in a form that leaves it out of addresses and logs', async () => {
    const { text } = await page(keyed, '/')
    expect(text).toContain('method="post"')
    expect(text).toContain('name="key"')
    const form = { ip: '81.2.69.142', locale: '', key: KEYS.developer }
    expect((await page(keyed, '/', form)).text).toContain('London')
    const without = await page(keyed, '/?ip=81.2.69.142')
    expect([without.status, without.headers['www-authenticate']]).toEqual([401, 'Bearer realm="geofix"'])
    expect(without.text).toContain('Write your key')
    // Such requests are counted and logged as others.
    expect(keyed.lines().at(-1)).toMatchObject({ event: 'request', status: 401 })
    expect((await page(keyed, `/?ip=81.2.69.142&key=${KEYS.developer}`)).status).toBe(401)
    expect((await page(keyed, '/', { ...form, key: 'live_wrong' })).status).toBe(401)
    expect((await page(keyed, '/', { ...form, key: 'a\r\nb' })).status).toBe(401)
    expect((await page(keyed, '/', { ...form, key: KEYS.free })).status).toBe(403)
    expect((await page(keyed, '/', { ...form, ip: 'x'.repeat(9000) })).status).toBe(413)
    expect(JSON.stringify(keyed.lines())).not.toContain('live_')
  })

  it('links the embedded database as DB-IP asks for', async () => {
    const service = await serve(folder, { keys: null, databases: [] })
    const { text } = await page(service, '/')
    expect(text).toMatch('<a href="https://db-ip.com" rel="noopener noreferrer">IP Geolocation by DB-IP</a>')
    expect(text).not.toContain('&lt;a href')
  })

  it('does not speak of a path to who wrote into a field', async () => {
    const { text } = await page(open, '/?ip=81.2.69.0%2F24')
    expect(text).toContain('The address has a slash')
    expect(text).not.toContain('in the path')
  })

  it('says for how long to wait, as the service does', async () => {
    const plan = { name: 'developer', rate: 1, burst: 1, batch: 1 }
    const service = await serve(folder, { keys: null, plan: [plan] })
    await page(service, '/?ip=81.2.69.142')
    const { status, headers } = await page(service, '/?ip=81.2.69.142')
    expect([status, headers['retry-after'], headers['content-type']]).toEqual([
      429,
      '1',
      'text/html; charset=utf-8',
    ])
  })

  it('has no other methods', async () => {
    const { status, headers } = await ask(open.origin, { method: 'PUT' })
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD, POST'])
  })
})
