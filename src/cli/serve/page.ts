import { createHash } from 'node:crypto'
import { type Asked, type HeaderFields, type Reply, replyTo } from '../../http/exchange.ts'
import type { Service } from '../../http/handler.ts'
import { problemReply } from '../../http/problem.ts'
import type { LocationRecord } from '../../location/location-record.ts'
import type { Resolver } from '../../resolver.ts'
import { MAP_HEIGHT, MAP_WIDTH, mapPoint } from '../report/equal-earth.ts'
import { clipped, html, isolated, MAX_NAME_LENGTH, type Markup, Markup as Safe } from '../report/markup.ts'
import { BORDERS, LAND } from '../report/world.ts'
import { PAGE_STYLE } from './page-style.ts'

/** Bytes of the form: an address, a language and a key. */
const MAX_FORM_BYTES = 8192

/** In characters. */
const MAX_ATTRIBUTION_LENGTH = 4000
/** Characters of a submitted value. */
const MAX_VALUE_LENGTH = 600

const HEADERS: HeaderFields = [
  ...['content-type', 'text/html; charset=utf-8'],
  // The page loads nothing and runs no script. Its own style is allowed by digest.
  ...[
    'content-security-policy',
    `default-src 'none'; style-src 'sha256-${createHash('sha256').update(PAGE_STYLE).digest('base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  ],
  ...['cache-control', 'private, no-store'],
  ...['referrer-policy', 'no-referrer'],
  ...['x-content-type-options', 'nosniff'],
]

interface Shown {
  readonly status: number
  /** `null` for a problem, or if nothing was asked. */
  readonly record: LocationRecord | null
  readonly problem: { readonly title: string; readonly detail: string } | null
}

/** Instead of the service's own words, which are for programs. */
const KEY_NEEDED = { title: 'A valid API key is required', detail: 'Write your key in the field "API key".' }

/** A page for people: an address, its record, its point on a map. It asks the service as any other client does. */
export class Page {
  readonly #service: Service<Asked>
  readonly #resolver: Resolver
  readonly #needsKey: boolean

  constructor(service: Service<Asked>, resolver: Resolver, needsKey: boolean) {
    this.#service = service
    this.#resolver = resolver
    this.#needsKey = needsKey
  }

  /** @param form `ip`, empty for the caller; `locale`; `key` */
  async answer(form: URLSearchParams, asked: Asked, remoteAddress: string | undefined): Promise<Reply> {
    const value = (name: string) => clipped(form.get(name)?.trim() ?? '', MAX_VALUE_LENGTH)
    const [ip, locale] = [value('ip'), value('locale')]
    // An address with a key would stay in histories and logs, so that a key in one has no effect.
    const key = asked.method === 'POST' ? value('key') : ''
    const shown = form.has('ip')
      ? await this.#ask(ip, locale, key, asked, remoteAddress)
      : { status: 200, record: null, problem: null }
    const body = this.#page({ ip, locale, key }, shown)
    const challenge = shown.status === 401 ? ['www-authenticate', 'Bearer'] : []
    return replyTo(asked.method, shown.status, body, [...HEADERS, ...challenge])
  }

  /** As `answer`, from the body of a request. */
  async answerForm(asked: Asked, remoteAddress: string | undefined): Promise<Reply> {
    const bytes = await asked.body(MAX_FORM_BYTES).catch(() => null)
    if (bytes === null) {
      return problemReply({ code: 'TOO_LARGE', detail: 'The form is too large, or ended early.' }, 'POST')
    }
    return this.answer(new URLSearchParams(new TextDecoder().decode(bytes)), asked, remoteAddress)
  }

  async #ask(
    ip: string,
    locale: string,
    key: string,
    asked: Asked,
    remoteAddress: string | undefined,
  ): Promise<Shown> {
    // Encoded throughout: a segment "batch" would be another operation.
    const segment = encodeURIComponent(ip).replace(/^b/, '%62')
    const path = ip === '' ? '/v1/ip' : `/v1/ip/${segment}`
    const query = locale === '' ? '' : `?${new URLSearchParams({ locale })}`
    const authorization = key === '' ? null : `Bearer ${key}`
    const question: Asked = {
      method: 'GET',
      url: path + query,
      // The header fields of the request, because a trusted proxy's is among them.
      get: (name) => (name === 'authorization' ? authorization : asked.get(name)),
      body: async () => null,
    }
    const { status, body } = await this.#service.answer(question, remoteAddress)
    const answer = JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body ?? undefined))
    return status === 200
      ? { status, record: answer, problem: null }
      : { status, record: null, problem: status === 401 && key === '' ? KEY_NEEDED : answer }
  }

  #page(
    { ip, locale, key }: { ip: string; locale: string; key: string },
    { record, problem }: Shown,
  ): string {
    const keyField = this.#needsKey
      ? html`<label class="grow">API key<input type="password" name="key" value="${key}" autocomplete="current-password" placeholder="live_…" spellcheck="false"></label>`
      : null
    const title =
      record === null ? 'Where is this IP address?' : `${isolated(record.ip)} – ${placeOf(record)}`
    const result =
      record === null
        ? problem &&
          html`<section class="card" role="alert"><h2>${problem.title}</h2><p class="soft">${problem.detail}</p></section>`
        : html`<section class="result"><div class="card"><h2>${isolated(record.ip)}</h2><table>${rows(record)}</table></div>
<div class="card wide">${map(record)}</div></section>`
    return `<!DOCTYPE html>\n${
      html`<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>${title}</title><style>${Safe.of(PAGE_STYLE)}</style></head><body>
<header><h1>Where is this IP address?</h1><p class="soft">Answered by this machine, from a database in its memory.</p></header>
<main><form class="card" method="${this.#needsKey ? 'post' : 'get'}" action="/">
<label class="grow">IP address<input name="ip" value="${ip}" autofocus autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="empty: yours"></label>
<label>Language<input name="locale" value="${locale}" size="6" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="en"></label>
${keyField}<button>Look up</button></form>
${result}</main>
<footer class="soft">${this.#attributions()}<p><a href="/openapi.json">OpenAPI document</a></p></footer></body></html>`
        .text
    }`
  }

  #attributions(): readonly Markup[] {
    return this.#resolver.databases.map(({ type, buildDate, licence, attribution }) => {
      const day = buildDate === null ? 'of unknown date' : `of ${buildDate.toISOString().slice(0, 10)}`
      const terms = licence === null ? '' : ` Licence: ${clipped(licence, MAX_NAME_LENGTH)}.`
      const link = /DB-IP/.test(attribution ?? '')
        ? html`<p><a href="https://db-ip.com">IP Geolocation by DB-IP</a></p>`
        : null
      return html`${link}<p>Database: ${clipped(type, MAX_NAME_LENGTH)} ${day}.${terms}</p><p>${clipped(attribution ?? '', MAX_ATTRIBUTION_LENGTH)}</p>`
    })
  }
}

function placeOf({ city, region, country }: LocationRecord): string {
  return [city, region.name, country.name]
    .map((name) => clipped(name ?? '', MAX_NAME_LENGTH))
    .filter(Boolean)
    .join(', ')
}

function rows({
  country,
  region,
  city,
  postal_code,
  coordinates,
  timezone,
}: LocationRecord): readonly Markup[] {
  const position = coordinates.latitude === null ? null : `${coordinates.latitude}, ${coordinates.longitude}`
  const all: readonly (readonly [string, string | null, string | null])[] = [
    ['Country', country.name, country.code],
    ['Region', region.name, region.code],
    ['City', city, null],
    ['Postal code', postal_code, null],
    ['Coordinates', position, null],
    ['Time zone', timezone.id, timezone.offset],
  ]
  return all.map(([name, value, code]) => {
    const shown = value ?? code
    const aside =
      value === null || code === null
        ? null
        : html` <span class="soft">${clipped(code, MAX_NAME_LENGTH)}</span>`
    const cell =
      shown === null
        ? html`<span class="soft">unknown</span>`
        : html`<bdi>${clipped(shown, MAX_NAME_LENGTH)}</bdi>${aside}`
    return html`<tr><th scope="row">${name}</th><td>${cell}</td></tr>`
  })
}

/** Room around the earth, in map units. */
const MARGIN = 20

function map({ coordinates: { latitude, longitude }, ...record }: LocationRecord): Markup {
  const box = `${-MARGIN} ${-MARGIN} ${MAP_WIDTH + 2 * MARGIN} ${Math.ceil(MAP_HEIGHT) + 2 * MARGIN}`
  const point = latitude === null || longitude === null ? null : mapPoint(latitude, longitude)
  const label =
    point === null
      ? 'World map without a point: the position is unknown'
      : `World map with a point at ${latitude}, ${longitude}`
  const dot =
    point === null
      ? null
      : html`<circle class="halo" cx="${point.x.toFixed(1)}" cy="${point.y.toFixed(1)}" r="48"/><circle class="dot" cx="${point.x.toFixed(1)}" cy="${point.y.toFixed(1)}" r="15"><title>${placeOf({ ...record, coordinates: { latitude, longitude } })}</title></circle>`
  return html`<svg class="world" viewBox="${box}" role="img" aria-label="${label}"><path class="land" d="${LAND}"/><path class="borders" d="${BORDERS}"/>${dot}</svg>
<p class="soft">The point is the middle of an area, never a household.</p>`
}
