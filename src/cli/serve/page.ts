import { createHash } from 'node:crypto'
import { type HeaderFields, NO_SNIFFING, replyTo, type ServiceRequest } from '../../http/exchange.ts'
import type { Answered, Service } from '../../http/handler.ts'
import { PROBLEMS, type Problem, type ProblemCode, problemReply } from '../../http/problem.ts'
import type { LocationRecord } from '../../location/location-record.ts'
import type { Resolver } from '../../resolver.ts'
import { MAP_HEIGHT, MAP_WIDTH, mapPoint } from '../report/equal-earth.ts'
import {
  clipped,
  html,
  isolated,
  MAX_ATTRIBUTION_LENGTH,
  MAX_NAME_LENGTH,
  Markup,
  withLinks,
} from '../report/markup.ts'
import COUNTRIES from '../report/world.json' with { type: 'json' }
import { plain, type Served } from './http-server.ts'

/** Bytes of the form: an address, a language and a key. */
const MAX_FORM_BYTES = 8192

/** Characters of a submitted value. */
const MAX_VALUE_LENGTH = 600

/** The style sheet of the page. Each scheme names its colours once. */
const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --page: #f3f5f8; --card: #ffffff; --ink: #131b26; --soft: #536073; --line: #dfe4eb; --edge: #8592a3;
  --accent: #1f5fd0; --on-accent: #ffffff; --land: #d8dfe8; --border: #ffffff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0c1117; --card: #141b24; --ink: #e6ebf2; --soft: #9aa8ba; --line: #253040; --edge: #66758a;
    --accent: #74a7ff; --on-accent: #0c1117; --land: #2a3545; --border: #141b24;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto; max-width: 1180px; padding: clamp(20px, 4vw, 48px) clamp(14px, 4vw, 40px);
  background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif;
}
h1, h2, p { margin: 0; }
h1 { font-size: clamp(26px, 4vw, 40px); line-height: 1.15; letter-spacing: -0.02em; }
h2 { font-size: 20px; overflow-wrap: anywhere; }
a { color: var(--accent); text-underline-offset: 2px; }
header { margin-bottom: 24px; }
.soft { color: var(--soft); }
main { display: grid; gap: 18px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: clamp(16px, 2vw, 24px); min-width: 0; }
form { display: flex; flex-wrap: wrap; gap: 14px; align-items: end; }
label { display: grid; gap: 4px; color: var(--soft); font-size: 14px; min-width: 0; }
.grow { flex: 1 1 240px; }
input, button { font: inherit; border-radius: 8px; padding: 10px 12px; min-height: 46px; }
input { width: 100%; font-size: 16px; color: var(--ink); background: var(--page); border: 1px solid var(--edge); }
input::placeholder { color: var(--soft); opacity: 1; }
button { border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); font-weight: 600; padding-inline: 20px; cursor: pointer; }
input:focus-visible, button:focus-visible, a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.result { display: grid; grid-template-columns: minmax(280px, 1fr) minmax(0, 2fr); gap: 18px; align-items: start; }
table { width: 100%; margin-top: 12px; border-collapse: collapse; }
th, td { padding: 9px 0; border-top: 1px solid var(--line); text-align: start; vertical-align: top; overflow-wrap: anywhere; }
th { width: 7.2em; padding-inline-end: 12px; font-weight: 500; color: var(--soft); }
.world { display: block; width: 100%; height: auto; }
.wide p { margin-top: 10px; font-size: 14px; }
.land { fill: var(--land); stroke: var(--border); stroke-width: 1; vector-effect: non-scaling-stroke; }
.halo { fill: var(--accent); fill-opacity: 0.22; }
.dot { fill: var(--accent); stroke: var(--card); stroke-width: 5; }
footer { display: grid; gap: 6px; margin-top: 28px; font-size: 13px; overflow-wrap: anywhere; }
@media (max-width: 820px) { .result { grid-template-columns: minmax(0, 1fr); } .halo { r: 90px; } .dot { r: 30px; } }
`

const HEADERS: HeaderFields = [
  ...['content-type', 'text/html; charset=utf-8'],
  // The page loads nothing and runs no script. Its own style is allowed by digest.
  ...[
    'content-security-policy',
    `default-src 'none'; style-src 'sha256-${createHash('sha256').update(PAGE_STYLE).digest('base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  ],
  ...['cache-control', 'private, no-store'],
  ...['referrer-policy', 'no-referrer'],
  ...NO_SNIFFING,
]

interface Shown {
  readonly status: number
  /** `null` for a problem, or if nothing was asked. */
  readonly record: LocationRecord | null
  readonly problem: { readonly title: string; readonly detail: string } | null
  /** Header fields of the service's answer that the page has too, such as `Retry-After`. */
  readonly headers: HeaderFields
  /** `null` if nothing was asked. */
  readonly answered: Answered | null
}

/** Instead of the service's own words, which are for programs. */
const KEY_NEEDED = { title: 'A valid API key is required', detail: 'Write your key in the field "API key".' }

/** The path of the operation that finds an address. @param ip any text of a caller; `null` asks about the caller */
export function operationPath(basePath: string, ip: string | null): string {
  // Encoded throughout: a segment "batch" would be another operation.
  return `${basePath}/v1/ip${ip === null ? '' : `/${encodeURIComponent(ip).replace(/^b/, '%62')}`}`
}

/** A question to the service, with the header fields of a request, because a trusted proxy's is among them. */
export function questionOf(
  asked: ServiceRequest,
  url: string,
  fields: Readonly<Record<string, string | null>>,
): ServiceRequest {
  const get = (name: string): string | null =>
    Object.hasOwn(fields, name) ? (fields[name] ?? null) : asked.get(name)
  return { method: asked.method, url, get, body: async () => null }
}

/** A page for people: an address, its record, its point on a map. It asks the service as any other client does. */
export class Page {
  constructor(
    readonly service: Service<ServiceRequest>,
    readonly resolver: Resolver,
    readonly needsKey: boolean,
    readonly basePath: string,
  ) {}

  /** @param form `ip`, empty for the caller; `locale`; `key` */
  async answer(form: URLSearchParams, asked: ServiceRequest, peer: string): Promise<Served> {
    const value = (name: string) => clipped(form.get(name)?.trim() ?? '', MAX_VALUE_LENGTH)
    const [ip, locale] = [value('ip'), value('locale')]
    // A URL with a key would stay in histories and logs, so a key in a URL has no effect.
    const key = asked.method === 'POST' ? value('key') : ''
    const shown = form.has('ip')
      ? await this.#ask(ip, locale, key, asked, peer)
      : { status: 200, record: null, problem: null, headers: [], answered: null }
    const body = this.#page({ ip, locale, key }, shown)
    const reply = replyTo(asked.method, shown.status, body, [...HEADERS, ...shown.headers])
    return shown.answered === null ? plain('page', reply) : { ...shown.answered, reply }
  }

  /** `answer` with the form in the body of a request. */
  async answerForm(asked: ServiceRequest, peer: string): Promise<Served> {
    const bytes = await asked.body(MAX_FORM_BYTES).catch(() => null)
    if (bytes === null) {
      const problem: Problem = { code: 'TOO_LARGE', detail: 'The form is too large, or ended early.' }
      return plain('page', problemReply(problem, 'POST'))
    }
    return this.answer(new URLSearchParams(new TextDecoder().decode(bytes)), asked, peer)
  }

  async #ask(ip: string, locale: string, key: string, asked: ServiceRequest, peer: string): Promise<Shown> {
    const path = operationPath(this.basePath, ip || null)
    const query = locale === '' ? '' : `?${new URLSearchParams({ locale })}`
    const authorization = key === '' ? null : `Bearer ${key}`
    const question = questionOf(asked, path + query, { authorization, accept: null })
    const answered = await this.service.answer({ ...question, method: 'GET' }, peer)
    const { status, body, headers: fields } = answered.reply
    const headers = fields.filter((_, at) => !HEADERS.includes(fields[at - (at % 2)] ?? ''))
    const answer = JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body ?? undefined))
    if (status === 200) return { status, record: answer, problem: null, headers, answered }
    const code: ProblemCode = answer.code
    const problem =
      status === 401 && key === '' ? KEY_NEEDED : { title: PROBLEMS[code][1], detail: String(answer.detail) }
    return { status, record: null, problem, headers, answered }
  }

  #page(
    { ip, locale, key }: { ip: string; locale: string; key: string },
    { record, problem }: Shown,
  ): string {
    const keyField = this.needsKey
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
<title>${title}</title><style>${Markup.of(PAGE_STYLE)}</style></head><body>
<header><h1>Where is this IP address?</h1><p class="soft">Answered by this machine, from a database in its memory.</p></header>
<main><form class="card" method="${this.needsKey ? 'post' : 'get'}" action="${this.basePath}/">
<label class="grow">IP address<input name="ip" value="${ip}" autofocus autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="empty: yours"></label>
<label>Language<input name="locale" value="${locale}" size="6" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="en"></label>
${keyField}<button>Look up</button></form>
${result}</main>
<footer class="soft">${this.#attributions()}<p><a href="${this.basePath}/openapi.json">OpenAPI document</a></p></footer></body></html>`
        .text
    }`
  }

  #attributions(): readonly Markup[] {
    return this.resolver.databases.map(({ type, buildDate, licence, attribution }) => {
      const day = buildDate === null ? 'of unknown date' : `of ${buildDate.toISOString().slice(0, 10)}`
      const terms = licence === null ? '' : ` Licence: ${clipped(licence, MAX_NAME_LENGTH)}.`
      return html`<p>Database: ${clipped(type, MAX_NAME_LENGTH)} ${day}.${terms}</p><p>${withLinks(clipped(attribution ?? '', MAX_ATTRIBUTION_LENGTH))}</p>`
    })
  }
}

function placeOf({ city, region, country }: LocationRecord): string {
  return [city, region.name, country.name]
    .map((name) => clipped(name ?? '', MAX_NAME_LENGTH))
    .filter(Boolean)
    .join(', ')
}

function rows(record: LocationRecord): readonly Markup[] {
  const { country, region, city, postal_code, coordinates, timezone } = record
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

/** All countries as one path. */
const LAND = Object.values(COUNTRIES).join('')

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
  return html`<svg class="world" viewBox="${box}" role="img" aria-label="${label}"><path class="land" d="${LAND}"/>${dot}</svg>
<p class="soft">The point is the middle of an area, never a household.</p>`
}
