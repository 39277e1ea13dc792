// The figures of the report as JSON, and its cities as GeoJSON.

import { failuresOf } from '../../enrich/counting/counts.ts'
import type { Activity } from './activity.ts'
import type { ReportCounts } from './places.ts'
import { ranked, type Tallied } from './ranked.ts'
import { namedCountries } from './rankings.ts'
import type { ReportDetails } from './report.ts'
import { dayHours, instantText, type Timeline } from './times.ts'

type Row = Readonly<Record<string, string | number | null>>

/** The figures of the report. A member is `null` where the run did not count it. */
export function summaryOf(counts: ReportCounts, details: ReportDetails) {
  const { addresses, requests } = details.activity
  const [first = null, last = null] = (counts.span ?? []).map((instant) => instantText(instant, counts.clock))
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
    addresses: { distinct: addresses.total, is_exact: addresses.isExact },
    /** Here and in the tables, times are in UTC if at least half of them have an offset from it. If not, they are as the log has them. */
    first,
    last,
    /** Lines whose time has no offset from UTC. */
    without_offset: counts.localTimes,
    /** Lines whose time is not counted in `first`, `last`, and by time in the tables, because it is of the rarer kind. */
    omitted_times: counts.omitted,
    local_hours: dayHours(counts.weekHours),
    /** From Monday at 00:00. */
    local_week_hours: counts.weekHours,
    tables: tablesOf(counts, details.activity),
    bytes_sent: requests?.bytes ?? null,
    databases: details.databases.map(({ type, buildDate, licence, attribution }) => ({
      type,
      built: buildDate?.toISOString() ?? null,
      licence,
      attribution,
    })),
  }
}

export type Summary = ReturnType<typeof summaryOf>

/** All rows of each table, the largest first. */
function tablesOf(counts: ReportCounts, { tables, requests, timeline, days }: Activity) {
  const rows = (all: readonly Tallied[] | undefined, name: string, within?: string): Row[] =>
    (all ?? []).map((row) => ({
      [name]: row.name,
      ...(within !== undefined && { [within]: row.within }),
      lines: row.count,
      ...(row.addresses !== null && { addresses: row.addresses }),
      ...(row.bytes !== null && { bytes: row.bytes }),
    }))
  return {
    countries: ranked(namedCountries(counts)).map(
      ({ within: code, name, count: lines, addresses, bytes }): Row => {
        return { code, name, lines, addresses, ...(bytes !== null && { bytes }) }
      },
    ),
    regions: ranked([...counts.regions.values()]).map(
      ({ within: country, code, name, count: lines, addresses }): Row => {
        return { country, code, name, lines, addresses }
      },
    ),
    cities: ranked([...counts.cities.values()]).map(
      ({ within: country, region, name, count: lines, addresses, ...place }): Row => {
        const latitude = meanOf(place.latitudes, place.located)
        const longitude = meanOf(place.longitudes, place.located)
        return { country, region, name, latitude, longitude, lines, addresses }
      },
    ),
    addresses: rows(tables.callers?.rows, 'ip', 'place'),
    networks: rows(tables.networks?.rows, 'network', 'country'),
    owners: rows(tables.systems?.rows, 'asn', 'organization'),
    timeline: timelineRows(timeline),
    statuses: rows(requests?.statuses, 'status'),
    methods: rows(requests?.methods, 'method'),
    pages: rows(tables.pages?.rows, 'path'),
    assets: rows(tables.assets?.rows, 'path'),
    'not-found': rows(tables.notFound?.rows, 'path'),
    referrers: rows(tables.referrers?.rows, 'host'),
    browsers: rows(tables.browsers?.rows, 'browser'),
    systems: rows(tables.operatingSystems?.rows, 'system'),
    crawlers: rows(tables.crawlers?.rows, 'crawler'),
    days: timelineRows(days),
    errors: timelineRows(requests?.errors),
    reasons: failuresOf(counts).map(([reason, lines]): Row => ({ reason, lines })),
  }
}

/**
 * A mean with as many digits as databases have. Its last digits depend on the order in which threads add: they are rounded away
 * first, so that they do not decide how a mean between two results is rounded.
 */
function meanOf(degrees: number, lines: number): number | null {
  return lines === 0 ? null : Math.round(Math.round((degrees / lines) * 1e8) / 1e4) / 1e4
}

function timelineRows(timeline: Timeline | null = null): Row[] {
  if (timeline === null) return []
  const names = [...timeline.series, 'others']
  return timeline.buckets.map(({ start, counts }) => ({
    start: instantText(start, timeline.clock),
    ...Object.fromEntries(counts.map((count, index) => [names[index], count])),
  }))
}

export function summaryJson(summary: Summary): string {
  return `${JSON.stringify(summary, null, 2)}\n`
}

/** The cities as points (RFC 7946). Cities without coordinates have no geometry. */
export function summaryGeoJson({ tables }: Summary): string {
  const features = tables.cities.map(({ latitude, longitude, ...properties }) => ({
    type: 'Feature',
    geometry: latitude === null ? null : { type: 'Point', coordinates: [longitude, latitude] },
    properties,
  }))
  return `${JSON.stringify({ type: 'FeatureCollection', features })}\n`
}
