import { readFileSync } from 'node:fs'
import type { EnrichOptions } from '../../../src/enrich/formats/formats.ts'
import type { RowOptions } from '../../../src/enrich/row-writer.ts'

/** The bytes of a golden file. */
export const golden = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(name, import.meta.url)))

const NGINX =
  '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_user_agent" rt=$request_time'

const SYSTEM = ['asn_number', 'asn_organization'] as const

/**
 * Inputs and what they become with the small database, byte by byte. Every line of the files was read before they
 * were kept: a difference is a fault or a decision, so that nothing here writes them anew.
 */
export const CASES: readonly [input: string, options: EnrichOptions, expected: string][] = [
  ['combined.log', {}, 'combined.ndjson'],
  ['combined.log', { append: true }, 'combined.append.log'],
  ['combined.log', { onlyFailed: true, append: true }, 'combined.failed.log'],
  ['combined.log', { append: true, fields: ['city', 'timezone_offset', 'latitude'] }, 'combined.columns.log'],
  ['quoted.csv', { timeField: 'at', field: 'client ip' }, 'quoted.enriched.csv'],
  ['quoted.csv', { fields: ['city', 'country_name'], onBadLine: 'drop', locale: 'de' }, 'quoted.city.csv'],
  ['quoted.csv', { dropUnresolved: true, fields: ['country_code'] }, 'quoted.resolved.csv'],
  ['excel.csv', { overwrite: true, fields: ['city', 'latitude', 'country_name'] }, 'excel.enriched.csv'],
  ['search.tsv', { timeField: '1' }, 'search.enriched.tsv'],
  ['no-header.csv', { header: false, fields: ['timezone_offset', 'postal_code'] }, 'no-header.enriched.csv'],
  ['events.ndjson', { overwrite: true, field: 'client.ip' }, 'events.enriched.ndjson'],
  [
    'events.ndjson',
    { field: '/client/ip', timeField: 'ts', into: 'place', onBadLine: 'drop', locale: 'de' },
    'events.place.ndjson',
  ],
  ['events.ndjson', { overwrite: true, field: 'client.ip', onlyFailed: true }, 'events.failed.ndjson'],
  ['cloudtrail.json', {}, 'cloudtrail.enriched.json'],
  ['cloudtrail.json', { to: 'ndjson', dropUnresolved: true, into: 'place' }, 'cloudtrail.ndjson'],
  ['squid.log', {}, 'squid.ndjson'],
  ['aws-elb.log', {}, 'aws-elb.ndjson'],
  ['aws-alb.log', {}, 'aws-alb.ndjson'],
  ['aws-s3.log', {}, 'aws-s3.ndjson'],
  ['aws-s3.log', { append: true, fields: ['city', 'timezone_offset'] }, 'aws-s3.columns.log'],
  ['nginx.log', { logFormat: NGINX }, 'nginx.ndjson'],
  ['iis.log', {}, 'iis.enriched.log'],
  ['iis.log', { onlyFailed: true, fields: ['city'] }, 'iis.failed.log'],
  ['iis.log', { to: 'ndjson', into: 'place' }, 'iis.ndjson'],
  ['exchange.log', {}, 'exchange.enriched.log'],
  ['exchange.log', { to: 'ndjson' }, 'exchange.ndjson'],
  ['zeek.log', { to: 'ndjson' }, 'zeek.ndjson'],
  ['flow.log', { to: 'ndjson', onlyFailed: true }, 'flow.failed.ndjson'],
  ['zeek.log', { fields: ['city', 'longitude', 'timezone_offset'] }, 'zeek.enriched.log'],
  ['flow.log', { fields: ['country_code', 'city', 'timezone_offset'] }, 'flow.enriched.log'],
  ['text.log', {}, 'text.places.log'],
  ['text.log', { annotate: '<{country_name} {timezone_offset}> {ip}', locale: 'de' }, 'text.before.log'],
  ['text.log', { to: 'ndjson', nth: 1 }, 'text.ndjson'],
  ['text.log', { append: true, fields: ['city', 'timezone_offset'], onlyFailed: true }, 'text.failed.log'],
  ['addresses.txt', {}, 'addresses.ndjson'],
  ['addresses.txt', { append: true }, 'addresses.append.txt'],
  ['addresses.txt', { append: true, fields: ['country_code', 'city'] }, 'addresses.columns.txt'],
  ['combined.log', { asn: true }, 'combined.asn.ndjson'],
  ['combined.log', { asn: true, append: true }, 'combined.asn.log'],
  ['events.ndjson', { asn: true, overwrite: true, field: 'client.ip' }, 'events.asn.ndjson'],
  ['events.ndjson', { asn: true, field: 'client.ip', into: 'place' }, 'events.place.asn.ndjson'],
  ['cloudtrail.json', { asn: true }, 'cloudtrail.asn.json'],
  ['quoted.csv', { asn: true, timeField: 'at', field: 'client ip' }, 'quoted.asn.csv'],
  ['quoted.csv', { asn: true, fields: ['asn_number', 'city'], into: 'src' }, 'quoted.systems.csv'],
  ['zeek.log', { asn: true, fields: [...SYSTEM] }, 'zeek.asn.log'],
  ['iis.log', { asn: true, fields: [...SYSTEM] }, 'iis.asn.log'],
  ['text.log', { asn: true }, 'text.asn.log'],
  ['text.log', { asn: true, append: true, fields: ['city', ...SYSTEM] }, 'text.systems.log'],
  ['addresses.txt', { asn: true, append: true }, 'addresses.asn.txt'],
]

/** The same for rows. */
export const ROWS: readonly [input: string, options: RowOptions, expected: string][] = [
  ['rows.tsv', { format: 'tsv', quoting: 'none', field: '1', timeField: '2' }, 'rows.escaped.tsv'],
  [
    'rows.tsv',
    { format: 'tsv', quoting: 'double', field: '1', fields: ['city', 'timezone_offset'] },
    'rows.quoted.tsv',
  ],
  ['rows.csv', { format: 'csv', quoting: 'double', field: '2', timeField: '3' }, 'rows.quoted.csv'],
  ['rows.csv', { format: 'csv', quoting: 'none', field: '2', fields: ['city'] }, 'rows.escaped.csv'],
  [
    'rows.ndjson',
    { format: 'ndjson', field: 'client.ip', timeField: 'ts', maxLineBytes: 200 },
    'rows.enriched.ndjson',
  ],
  [
    'rows.ndjson',
    { format: 'ndjson', field: 'client.ip', into: 'place', maxLineBytes: 200, onBadLine: 'keep' },
    'rows.kept.ndjson',
  ],
  ['rows.log', { format: 'access-log' }, 'rows.log.ndjson'],
  ['rows.log', { format: 'access-log', append: true }, 'rows.append.log'],
  ['rows.log', { format: 'access-log', append: true, fields: ['city', 'postal_code'] }, 'rows.columns.log'],
  ['rows.log', { format: 'text' }, 'rows.places.log'],
  ['rows.log', { format: 'text', to: 'ndjson', nth: 2 }, 'rows.text.ndjson'],
  ['rows.txt', { format: 'list' }, 'rows.txt.ndjson'],
  ['rows.txt', { format: 'list', append: true, onBadLine: 'keep' }, 'rows.append.txt'],
  ['squid.log', { format: 'squid' }, 'squid.ndjson'],
  ['aws-elb.log', { format: 'aws-elb' }, 'aws-elb.ndjson'],
  ['aws-alb.log', { format: 'aws-alb' }, 'aws-alb.ndjson'],
  ['aws-s3.log', { format: 'aws-s3' }, 'aws-s3.ndjson'],
  ['nginx.log', { format: 'custom-log', logFormat: NGINX }, 'nginx.ndjson'],
  ['rows.ndjson', { asn: true, format: 'ndjson', field: 'client.ip' }, 'rows.asn.ndjson'],
  [
    'rows.tsv',
    { asn: true, format: 'tsv', quoting: 'none', field: '1', fields: [...SYSTEM] },
    'rows.asn.tsv',
  ],
]
