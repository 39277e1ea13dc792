// The figures of the report as JSON, and its cities as GeoJSON.
import type { Counts } from '../../enrich/counting/counts.ts'
import { failuresOf } from '../../enrich/counting/counts.ts'
import type { Activity } from './activity.ts'
import type { Ranked, Tallied } from './ranked.ts'
import { ranked } from './ranked.ts'
import { namedCountries } from './rankings.ts'
import type { ReportDetails } from './report.ts'
import type { Timeline } from './times.ts'

type TableName =
  | 'countries'
  | 'regions'
  | 'cities'
  | 'addresses'
  | 'networks'
  | 'owners'
  | 'timeline'
  | 'statuses'
  | 'methods'
  | 'pages'
  | 'assets'
  | 'not-found'
  | 'referrers'
  | 'browsers'
  | 'systems'
  | 'crawlers'
  | 'days'
  | 'errors'
  | 'reasons'
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
    /** From Monday at 00:00. */
    local_week_hours: counts.weekHours,
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
  const { unit, series: countries, buckets } = timeline
  return {
    unit,
    countries,
    lines: buckets.map(({ start, counts }) => ({ start: new Date(start).toISOString(), counts })),
  }
}

/** All rows of each table, the largest first. */
function tablesOf(counts: Counts, activity: Activity | null): Readonly<Record<TableName, readonly Row[]>> {
  const distinct = activity?.addresses ?? null
  const requests = activity?.requests ?? null
  const rows = (figures: Ranked | null | undefined, name: string, within: string | null): Row[] =>
    (figures?.rows ?? []).map((row) => ({
      [name]: row.name,
      ...(within !== null && { [within]: row.within }),
      lines: row.count,
      ...(row.addresses !== null && { addresses: row.addresses }),
      ...(row.bytes !== null && { bytes: row.bytes }),
    }))
  const sums = (all: readonly Tallied[] | undefined, name: string): Row[] =>
    (all ?? []).map((row) => ({ [name]: row.name, lines: row.count }))
  return {
    countries: ranked(namedCountries(counts, activity)).map(({ name, within, count, addresses, bytes }) => ({
      code: within,
      name,
      lines: count,
      addresses,
      ...(bytes !== null && { bytes }),
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
    timeline: timelineRows(activity?.timeline ?? null, ['others']),
    statuses: sums(requests?.statuses, 'status'),
    methods: sums(requests?.methods, 'method'),
    pages: rows(requests?.pages, 'path', null),
    assets: rows(requests?.assets, 'path', null),
    'not-found': rows(requests?.notFound, 'path', null),
    referrers: rows(requests?.referrers, 'host', null),
    browsers: rows(requests?.agents?.browsers, 'browser', null),
    systems: rows(requests?.agents?.systems, 'system', null),
    crawlers: rows(requests?.agents?.crawlers, 'crawler', null),
    days: timelineRows(activity?.days ?? null, []),
    errors: timelineRows(requests?.errors ?? null, []),
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

/** @param others the names of the numbers that follow the series */
function timelineRows(timeline: Timeline | null, others: readonly string[]): Row[] {
  if (timeline === null) return []
  const names = [...timeline.series, ...others]
  return timeline.buckets.map(({ start, counts }) => ({
    start: new Date(start).toISOString(),
    ...Object.fromEntries(names.map((name, index) => [name, counts[index] ?? 0])),
  }))
}

export function summaryJson(summary: Summary): string {
  return `${JSON.stringify(summary, null, 2)}\n`
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
