import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serveSettings } from '../../src/cli/serve/flags.ts'
import { openApiJson } from '../../src/cli/serve/openapi.ts'
import { ASN_DATABASE, DATABASE } from '../http/service.ts'
import { makeFile, temporaryFolder } from '../temporary.ts'
import { failure, geofix, printed, valuesIn } from './enrich/command-line.ts'
import { KEYS, serve } from './serve/running.ts'

const folder = temporaryFolder()
const file = (name: string, bytes: Uint8Array): string => makeFile(join(folder, name), bytes)
const [DB, ASN_DB] = [file('city.mmdb', DATABASE), file('asn.mmdb', ASN_DATABASE)]
const LONDON = { number: 20712, organization: 'Andrews & "Arnold" Ltd ü', network: '81.2.64.0/19' }

describe('geofix --asn-db FILE ADDRESS', () => {
  it('adds the autonomous system to the record', async () => {
    const { status, out, err } = await geofix(['--db', DB, '--asn-db', ASN_DB, '81.2.69.142', '133.11.93.3'])
    expect([status, err]).toEqual([0, ''])
    const plain = await geofix(['--db', DB, '81.2.69.142', '133.11.93.3'])
    const [london, tokyo] = valuesIn(plain.out)
    const expected = [JSON.stringify({ ...london, asn: LONDON }), JSON.stringify({ ...tokyo, asn: null })]
    expect(out).toBe(`${expected.join('\n')}\n`)
  })

  it('says on a card that a network has no autonomous system', async () => {
    const args = ['--db', DB, '--asn-db', ASN_DB, '133.11.93.3']
    const out = await printed(geofix(args, { isShown: true }))
    expect(out).toMatch(/^network +not known$/m)
    expect(out).not.toContain('owner')
  })

  it('reads the embedded database with --asn, and adds nothing without both', async () => {
    const { status, out } = await geofix(['--db', DB, '--asn', '81.2.69.142'])
    const { asn } = JSON.parse(out)
    expect([status, typeof asn.number, typeof asn.organization]).toEqual([0, 'number', 'string'])
    expect(asn.network).toMatch(/^81\.[\d.]+\/\d+$/)
    expect(JSON.parse((await geofix(['--db', DB, '81.2.69.142'])).out)).not.toHaveProperty('asn')
  })

  it('refuses a database without autonomous systems', async () => {
    expect(await geofix(['--db', DB, '--asn-db', DB, '81.2.69.142'])).toEqual(
      failure(1, 'it has no autonomous systems'),
    )
  })
})

describe('geofix serve --asn', () => {
  it('is off by default, and takes files', () => {
    expect(serveSettings({ open: true }).asn).toBe(false)
    expect(serveSettings({ open: true, asn: true }).asn).toBe(true)
    expect(serveSettings({ open: true, asnDb: ['a.mmdb'] }).asn).toEqual(['a.mmdb'])
  })

  it('adds the member to all answers, as the OpenAPI document says', async () => {
    const service = await serve(folder, { asn: [ASN_DB] })
    onTestFinished(() => service.stop())
    const get = async (path: string) =>
      fetch(service.origin + path, { headers: { authorization: `Bearer ${KEYS.developer}` } })
    const record = await (await get('/v1/ip/81.2.69.142')).json()
    expect(record.asn).toEqual(LONDON)
    const none = await (await get('/v1/ip/133.11.93.3')).json()
    expect(none.asn).toBeNull()
    expect(await (await get('/asn?ip=81.2.69.142')).text()).toBe('20712\n')
    expect(await (await get('/asn-org?ip=81.2.69.142')).text()).toBe('Andrews & "Arnold" Ltd ü\n')
    const document = await (await get('/openapi.json')).text()
    expect(document).toBe(openApiJson('', true))
    const ajv = new Ajv2020({ strict: false }).addSchema(JSON.parse(document), 'openapi')
    const validate = ajv.compile({ $ref: 'openapi#/components/schemas/LocationRecord' })
    for (const each of [record, none]) expect(validate(each), JSON.stringify(validate.errors)).toBe(true)
    expect(validate({ ...record, asn: undefined })).toBe(false)
    const partial = ajv.compile({ $ref: 'openapi#/components/schemas/PartialRecord' })
    const part = await (await get('/v1/ip/81.2.69.142?fields=asn.number')).json()
    expect([part, partial(part)]).toEqual([{ asn: { number: 20712 } }, true])
  })
})
