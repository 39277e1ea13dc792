// The figures of the report as data, and as texts for other programs.
import type { Counts } from '../../enrich/counting/counts.ts'
import { failuresOf } from '../../enrich/counting/counts.ts'
import { countText } from '../figures.ts'
import type { Activity } from './activity.ts'
import type { Ranked, Tallied } from './ranked.ts'
import { namedCountries, ranked } from './rankings.ts'
import type { ReportDetails } from './report.ts'

/** The files of `--summary csv=DIR`. */
export const CSV_TABLES = [
  'countries',
  'regions',
  'cities',
  'addresses',
  'networks',
  'owners',
  'timeline',
  'statuses',
  'methods',
  'pages',
  'not-found',
  'reasons',
] as const

type Value = string | number | null
type Row = Readonly<Record<string, Value>>

/** The figures of the report. A member is `null` where the run did not count it. */
export function summaryOf(counts: Counts, details: ReportDetails) {
  const { activity } = details
  const distinct = activity?.addresses ?? null
  const at = (instant: number | null): string | null =>
    instant === null ? null : new Date(instant).toISOString()
  return {
    geofix: details.version,
    generated: details.startedAt.toISOString(),
    inputs: details.sources,
    lines: {
      all: counts.lines,
      blank: counts.blank,
      located: counts.resolved,
      not_located: Object.fromEntries(failuresOf(counts)),
      excluded: counts.excluded,
      unreadable: counts.bad,
    },
    /** Distinct addresses; `is_exact` is `false` if there are more. */
    addresses: distinct === null ? null : { distinct: distinct.total, is_exact: distinct.isExact },
    first: at(counts.firstInstant),
    last: at(counts.lastInstant),
    local_hours: counts.hours,
    timeline: timelineOf(activity ?? null),
    tables: tablesOf(counts, activity ?? null),
    bytes_sent: activity?.requests?.bytes ?? null,
    databases: details.databases.map(({ type, buildDate, licence, attribution }) => ({
      type,
      built: buildDate?.toISOString() ?? null,
      licence,
      attribution,
    })),
  }
}

export type Summary = ReturnType<typeof summaryOf>

function timelineOf(activity: Activity | null) {
  const timeline = activity?.timeline ?? null
  if (timeline === null) return null
  const { unit, countries, buckets } = timeline
  return {
    unit,
    countries,
    lines: buckets.map(({ start, counts }) => ({ start: new Date(start).toISOString(), counts })),
  }
}

/** All rows of each table, the largest first. */
function tablesOf(
  counts: Counts,
  activity: Activity | null,
): Record<(typeof CSV_TABLES)[number], readonly Row[]> {
  const distinct = activity?.addresses ?? null
  const requests = activity?.requests ?? null
  const rows = (figures: Ranked | null | undefined, name: string, within: string | null): Row[] =>
    (figures?.rows ?? []).map((row) => ({
      [name]: row.name,
      ...(within !== null && { [within]: row.within }),
      lines: row.count,
      ...(row.addresses !== null && { addresses: row.addresses }),
    }))
  const sums = (all: readonly Tallied[] | undefined, name: string): Row[] =>
    (all ?? []).map((row) => ({ [name]: row.name, lines: row.count }))
  return {
    countries: ranked(namedCountries(counts, distinct)).map(({ name, within, count, addresses }) => ({
      code: within,
      name,
      lines: count,
      addresses,
    })),
    regions: ranked(
      Array.from(counts.regions, ([key, { country, code, name, count }]) => ({
        country,
        code,
        name: name ?? code ?? '',
        count,
        addresses: distinct?.regions.get(key) ?? null,
      })),
    ).map(({ count, addresses, ...row }) => ({ ...row, lines: count, addresses })),
    cities: ranked(
      Array.from(
        counts.cities,
        ([key, { country, region, name, latitudes, longitudes, located, count }]) => ({
          country,
          region,
          name,
          latitude: located === 0 ? null : degrees(latitudes / located),
          longitude: located === 0 ? null : degrees(longitudes / located),
          count,
          addresses: distinct?.cities.get(key) ?? null,
        }),
      ),
    ).map(({ count, addresses, ...row }) => ({ ...row, lines: count, addresses })),
    addresses: rows(activity?.callers, 'ip', 'place').map(({ addresses: _, ...row }) => row),
    networks: rows(activity?.networks, 'network', 'country'),
    owners: rows(activity?.systems, 'asn', 'organization'),
    timeline: timelineRows(activity),
    statuses: sums(requests?.statuses, 'status'),
    methods: sums(requests?.methods, 'method'),
    pages: rows(requests?.pages, 'path', null),
    'not-found': rows(requests?.notFound, 'path', null),
    reasons: failuresOf(counts).map(([reason, count]) => ({ reason, lines: count })),
  }
}

/**
 * As many digits as databases have. The last digits of a mean depend on the order in which threads add: they are rounded away
 * first, so that they do not decide how a mean between two results is rounded.
 */
function degrees(angle: number): number {
  return Math.round(Math.round(angle * 1e8) / 1e4) / 1e4
}

function timelineRows(activity: Activity | null): Row[] {
  const timeline = activity?.timeline
  if (timeline === null || timeline === undefined) return []
  const names = [...timeline.countries, 'others']
  return timeline.buckets.map(({ start, counts }) => ({
    start: new Date(start).toISOString(),
    ...Object.fromEntries(names.map((name, index) => [name, counts[index] ?? 0])),
  }))
}

export function summaryJson(summary: Summary): string {
  return `${JSON.stringify(summary, null, 2)}\n`
}

/** A table as CSV (RFC 4180). A table without rows is empty. */
export function tableCsv(rows: readonly Row[]): string {
  const [first] = rows
  if (first === undefined) return ''
  const columns = Object.keys(first)
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? ''))]
  return lines.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('')
}

function csvCell(value: Value): string {
  const text = String(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The cities as points (RFC 7946). Cities without coordinates have no geometry. */
export function summaryGeoJson({ tables }: Summary): string {
  const features = tables.cities.map(({ latitude, longitude, ...properties }) => ({
    type: 'Feature',
    geometry:
      typeof latitude === 'number' && typeof longitude === 'number'
        ? { type: 'Point', coordinates: [longitude, latitude] }
        : null,
    properties,
  }))
  return `${JSON.stringify({ type: 'FeatureCollection', features })}\n`
}

/** Rows of a table in Markdown. */
const MARKDOWN_ROWS = 15

export function summaryMarkdown(title: string, { lines, first, last, addresses, tables }: Summary): string {
  const parts = [
    `# ${cell(title)}`,
    [
      `- ${countText(lines.all)} lines, ${countText(lines.located)} located, ${countText(lines.unreadable)} unreadable`,
      ...(addresses === null
        ? []
        : [`- ${addresses.is_exact ? '' : 'at least '}${countText(addresses.distinct)} distinct addresses`]),
      ...(first === null || last === null ? [] : [`- from ${first} to ${last}`]),
    ].join('\n'),
  ]
  for (const name of CSV_TABLES) {
    const rows = tables[name]
    const [header] = rows
    if (header === undefined || name === 'timeline') continue
    const columns = Object.keys(header).filter((column) => column !== 'latitude' && column !== 'longitude')
    const shown = rows.slice(0, MARKDOWN_ROWS)
    parts.push(
      `## ${name}`,
      [
        columns,
        columns.map((column) => (typeof header[column] === 'number' ? '---:' : '---')),
        ...shown.map((row) => columns.map((column) => cell(row[column] ?? ''))),
      ]
        .map((cells) => `| ${cells.join(' | ')} |`)
        .join('\n'),
    )
  }
  return `${parts.join('\n\n')}\n`
}

/** Text that Markdown shows as it is: a log must not add links, images or HTML to a document. */
function cell(value: Value): string {
  return String(value ?? '')
    .replace(/[\r\n\t]+/g, ' ')
    .replace(/[\\`*_{}[\]<>#|!]/g, (character) => `\\${character}`)
}
