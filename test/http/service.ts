import { type Authenticate, createHandler, type HandlerOptions } from '../../src/http.ts'
import { type OpenOptions, Resolver } from '../../src/index.ts'
import { MmdbWriter, uint32 } from '../../src/writer.ts'

const place = (code: string, city: string, region: string) => ({
  country: { iso_code: code, names: { en: code === 'GB' ? 'United Kingdom' : 'Japan', de: 'Ein "Land"' } },
  city: { names: { en: city, de: `${city}, „de“` } },
  subdivisions: [{ iso_code: region, names: { en: 'Region', de: 'Gebiet' } }],
  location: { latitude: 51.5, longitude: -0.25, time_zone: 'Asia/Tokyo' },
})

/** A small database: an address of each kind that the tests ask for. */
export const DATABASE: Uint8Array = new MmdbWriter({ databaseType: 'Sample-City', languages: ['en', 'de'] })
  .insert('81.2.69.0/24', place('GB', 'London', 'ENG'))
  .insert('133.11.0.0/16', place('JP', 'Chiyoda', '13'))
  .insert('2001:4860::/32', place('JP', 'Ōsaka "2"', '27'))
  .insert('198.41.0.0/24', { country: { iso_code: 'US' } })
  .toBytes()

const system = (number: number, name: string) => ({
  autonomous_system_number: uint32(number),
  autonomous_system_organization: name,
})

/** Autonomous systems of some of these addresses. */
export const ASN_DATABASE: Uint8Array = new MmdbWriter({ databaseType: 'Sample-ASN' })
  .insert('81.2.64.0/19', system(20712, 'Andrews & "Arnold" Ltd ü'))
  .insert('2001:4860::/32', { autonomous_system_number: uint32(15169) })
  .insert('9.9.9.0/24', system(19281, 'Quad9'))
  .toBytes()

export async function openSample(options?: OpenOptions): Promise<Resolver> {
  return Resolver.open(DATABASE, options)
}

/** Keys of each plan, and one with a plan that is not there. */
export const KEYS: Readonly<Record<string, { plan: string; id: string }>> = {
  'free-key': { plan: 'free', id: 'f' },
  'developer-key': { plan: 'developer', id: 'd' },
  'other-developer-key': { plan: 'developer', id: 'e' },
  'business-key': { plan: 'business', id: 'b' },
  'strange-key': { plan: 'strange', id: 's' },
}

export const authenticate: Authenticate = (key) => KEYS[key] ?? null

/** Limits that tests do not reach by accident. */
export const AMPLE = ['free', 'developer', 'business'].map((name, rank) => ({
  name,
  rate: 1e6,
  burst: 1e6,
  batch: rank * 1000,
}))

/** Asks a handler as a runtime would. */
export function asker(resolver: Resolver, options: Partial<HandlerOptions> = {}) {
  const handler = createHandler(resolver, { authenticate, plans: AMPLE, ...options })
  return async (
    path: string,
    {
      key = 'developer-key',
      peer = '81.2.69.142',
      ...init
    }: RequestInit & { key?: string | null; peer?: string | null } = {},
  ) => {
    const headers = new Headers(init.headers)
    if (key !== null) headers.set('authorization', `Bearer ${key}`)
    return handler(new Request(`http://geo.example${path}`, { ...init, headers }), { remoteAddress: peer })
  }
}

export function batchOf(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    body:
      typeof body === 'string'
        ? body
        : body instanceof Uint8Array
          ? new Uint8Array(body)
          : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  }
}

/** Limits that tests reach. */
const FEW = [
  { name: 'free', rate: 1, burst: 2, batch: 0 },
  { name: 'developer', rate: 2, burst: 4, batch: 1 },
  { name: 'business', rate: 5, burst: 5, batch: 1 },
]
export const limitedAsker = (resolver: Resolver, options: Partial<HandlerOptions> = {}) =>
  asker(resolver, { plans: FEW, ...options })

/** The statuses of requests, one after the other. */
export async function statuses(count: number, ask: () => Promise<Response>): Promise<number[]> {
  const all: number[] = []
  for (let index = 0; index < count; index++) all.push((await ask()).status)
  return all
}
