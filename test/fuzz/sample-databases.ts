import { readdirSync } from 'node:fs'
import fc from 'fast-check'
import { MmdbWriter, type WritableValue } from '../../src/writer.ts'
import { bytesOf, encode, type HandMade, handMade } from '../mmdb/hand-made.ts'
import { hasShared, SHARED, sharedBytes } from '../shared.ts'

/** Larger databases take longer without finding more. */
const SMALL = 4096

const names = fc.record(
  {
    en: fc.constantFrom('Alpha', 'Béta', '東京', ''),
    de: fc.constantFrom('Älpha', 'Gamma'),
    'pt-BR': fc.constantFrom('Delta', 'Alpha'),
    'zh-Hant': fc.constant('東京'),
  },
  { requiredKeys: [] },
)
/** Records of GeoIP2 with shared parts, missing ones and wrong ones. */
export const geoip2Records: fc.Arbitrary<WritableValue> = fc
  .record(
    {
      country: fc.record(
        { iso_code: fc.constantFrom('GB', 'US', 'JP', 'xx', ''), names },
        { requiredKeys: [] },
      ),
      subdivisions: fc.array(fc.record({ iso_code: fc.constantFrom('ENG', 'CA', '13'), names }), {
        maxLength: 2,
      }),
      city: fc.record({ names }),
      postal: fc.record({ code: fc.constantFrom('EC1A', '94043') }),
      location: fc.record(
        {
          latitude: fc.constantFrom(51.5142, -33.5, 1 / 3, 90, 91, 1234.5),
          longitude: fc.constantFrom(-0.0931, Math.fround(-122.0775), 180, -181, 0),
          time_zone: fc.constantFrom('Europe/London', 'Asia/Tokyo', 'Nowhere/Land', ''),
        },
        { requiredKeys: [] },
      ),
      registered_country: fc.record({ iso_code: fc.constant('FR') }),
    },
    { requiredKeys: [] },
  )
  .map(writable)
/** Records of other vendors, and records without a location. */
const flat = fc.record(
  {
    country_code: fc.constantFrom('GB', 'US'),
    country: fc.constantFrom('GB', 'France'),
    state1: fc.constantFrom('England', ''),
    city: fc.constantFrom('London', ''),
    loc: fc.constantFrom('51.5,-0.1', '51.5', 'x,y', ''),
    latitude: fc.constantFrom<string | number>('51.5', 51.5, ''),
    longitude: fc.constantFrom<string | number>('-0.1', -0.1, ''),
    timezone: fc.constantFrom('Europe/London', ''),
  },
  { requiredKeys: [] },
)
const NETWORKS = [
  ...'1.0.0.0/8 80.0.0.0/4 80.1.2.0/24 89.160.20.112/28 1.2.3.4/32'.split(' '),
  ...'2001:218::/32 2000::/3 2001:4860::/40 2a02:d300::/28 0.0.0.0/1 255.255.255.255/32'.split(' '),
]

const written = fc
  .record({
    databaseType: fc.constantFrom('GeoIP2-City', 'GeoLite2-Country', 'ipinfo lite.mmdb', 'Test', 'DBIP-City'),
    recordSize: fc.constantFrom(24, 28, 32),
    languages: fc.constantFrom([], ['en'], ['en', 'de']),
    ipVersion: fc.constantFrom(4, 6),
    networks: fc.array(
      fc.tuple(
        fc.constantFrom(...NETWORKS),
        fc.oneof({ weight: 4, arbitrary: geoip2Records }, { weight: 2, arbitrary: flat.map(writable) }),
      ),
      { maxLength: 6 },
    ),
  })
  .map(({ networks, ...options }) => {
    const writer = new MmdbWriter(options)
    for (const [network, value] of networks) {
      if (options.ipVersion === 6 || !network.includes(':')) writer.insert(network, value)
    }
    return writer.toBytes()
  })

/** Removes absent members. */
function writable(value: object): WritableValue {
  return JSON.parse(JSON.stringify(value))
}

const pointer = fc.nat(80).map((at): HandMade => ({ hex: (0x2000 + at).toString(16) }))
const { value } = fc.letrec<{ value: HandMade }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    { weight: 3, arbitrary: fc.constantFrom<HandMade>('GB', 'x', 7, 2n ** 60n, true, { hex: '4100' }) },
    { weight: 2, arbitrary: pointer },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
    {
      weight: 3,
      arbitrary: fc
        .array(
          fc.tuple(
            fc.constantFrom('country', 'names', 'iso_code', 'en', 'location', 'latitude'),
            tie('value'),
          ),
          { maxLength: 3 },
        )
        .map((pairs): HandMade => new Map(pairs)),
    },
  ),
}))
/** Pointers to anywhere, including to pointers and to themselves. */
const entangled = fc
  .tuple(value, fc.array(value, { maxLength: 4 }))
  .map(([first, more]) => handMade(new Uint8Array(Buffer.concat([first, ...more].map(encode)))))

const shared = hasShared
  ? ['mmdb', 'mmdb-bad']
      .flatMap((folder) =>
        readdirSync(`${SHARED}fixtures/${folder}`).map((name) => `fixtures/${folder}/${name}`),
      )
      .map(sharedBytes)
      .filter(({ length }) => length <= SMALL)
  : []

/** Small databases: written by the writer, hand-made with pointers to anywhere, and fixtures if available. */
export const sampleDatabases: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 4, arbitrary: written },
  { weight: 3, arbitrary: entangled },
  { weight: 2, arbitrary: fc.constantFrom(...shared, handMade(bytesOf('e0'))) },
)
