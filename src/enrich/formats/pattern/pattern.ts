// Logs whose lines are written by a pattern: that of a known program, or one that the user gives.
import { wrongOption } from '../../../option-names.ts'
import { eventTimeOf } from '../../locating/event-time.ts'
import { addedMembers, type CommonPlan, commonPlan, type LineOptions, type Planned } from '../../options.ts'
import { chosenAddress, chosenTime, numberedFields, refuseTaken } from '../../reading/chosen-fields.ts'
import { kindOfValue, SampleField } from '../../reading/field-guess.ts'
import { patternRequestFields } from '../../reading/known-names.ts'
import { plainLayout } from '../../reading/layout.ts'
import { firstLines, type Sample } from '../../reading/sample.ts'
import { type AppendPlan, appendPlan, lineForm } from '../../writing/record-form.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { type Pattern, patternOf } from './directive.ts'
import { fieldNamesOf, isNumberField, PatternReader, REST, type WantedFields } from './pattern-reader.ts'

export interface PatternPlan<Name extends string> extends CommonPlan, AppendPlan, WantedFields {
  readonly format: Name
  readonly pattern: Pattern
}

/** The field of the client's address in the patterns of known programs. */
const CLIENT = 'client_ip'

/** Fields with the time at which the server answers. Others can be header fields, which any client can write. */
const OWN_TIMES: readonly string[] = ['time', 'time_local', 'time_iso8601', 'msec']

/** Lines that a format is recognised by. More than half must fit. */
const LINES = 50

/**
 * Plans lines that are written by a pattern.
 *
 * @param known the pattern of the format; `null` if the option `logFormat` has it
 * @throws EnrichError when the pattern has no field for the address, or has the one that would be added
 * @throws TypeError, InvalidLocaleError when an option is wrong
 */
function planPattern<Name extends string>(
  sample: Sample,
  options: LineOptions,
  format: Name,
  known: Pattern | null,
): Planned<PatternPlan<Name>> {
  const common = commonPlan(options)
  const append = appendPlan(options, format)
  const { logFormat, timeField } = options
  if (known === null && logFormat === undefined) {
    throw wrongOption`<logFormat> must be given for the format ${format}`
  }
  const pattern = known ?? patternOf(logFormat ?? '')
  const names = pattern.fields.map(({ name }) => name)
  if (!append.append) refuseTaken(addedMembers(common), [...names, REST], 'a line has', 'field')
  const notes: string[] = []
  const fields = names.map((name, index) => new SampleField([name], index))
  const { records } = recordsOf(sample, pattern, 1000)
  for (const values of records) for (const field of fields) field.add(values[field.index] ?? '')
  // Known programs write the client's address always in the same field.
  const field = options.field ?? (known === null ? undefined : CLIENT)
  const named = numberedFields(fields)
  const nothing = (): string => 'none of the first lines fits the log format'
  const sampled = records.length > 0 ? named : { ...named, nothing }
  const address = chosenAddress(field, sampled, common, notes)
  const own = fields.filter(({ name }) => OWN_TIMES.includes(name))
  // The `request_time` of servers is a duration.
  const mayBeTimes = own.length > 0 ? own : fields.filter(({ name }) => name !== 'request_time')
  const time = chosenTime(timeField, { ...sampled, fields: mayBeTimes }, notes)
  return {
    plan: {
      ...common,
      ...append,
      format,
      pattern,
      requestFields: patternRequestFields(fieldNamesOf(pattern), names.includes('target')),
      hasPort: address.hasPort,
      address: address.index,
      time: time?.index ?? null,
    },
    notes,
  }
}

/** The values of the first lines of a sample that fit the pattern, and the number of all first lines. */
function recordsOf(sample: Sample, pattern: Pattern, most: number) {
  const line = new PatternReader(pattern)
  const decoder = new TextDecoder()
  const lines = firstLines(sample, most)
  const records = lines.flatMap(({ start, end }) =>
    line.read(sample.bytes, start, end) === 'bad'
      ? []
      : [
          pattern.fields.map((_, at) =>
            decoder.decode(sample.bytes.subarray(line.starts[at], line.ends[at])),
          ),
        ],
  )
  return { records, lines: lines.length }
}

/** Earlier times are numbers that mean something else, such as the day of a month. */
const EARLIEST = Date.UTC(2000)
/** A number, or `-` for a missing one. */
const NUMBER = /^(?:-|-?\d+)$/

/**
 * Whether more than half of the first lines fit a pattern and have a time, numbers, and an address or `-` where the pattern
 * has them, and one of the lines has an address. Words alone prove nothing: lines of other programs have as many.
 */
function looksLikePattern(bytes: Uint8Array, pattern: Pattern): boolean {
  // Most inputs have another format: if no line of half of them fits, the other half cannot be more than half.
  if (recordsOf({ bytes }, pattern, LINES / 2).records.length === 0) return false
  const { records, lines } = recordsOf({ bytes }, pattern, LINES)
  const names = pattern.fields.map(({ name }) => name)
  const [time, client] = [names.indexOf('time'), names.indexOf(CLIENT)]
  const kinds = records
    .filter((values) => eventTimeOf(values[time] ?? '') >= EARLIEST)
    .filter((values) =>
      values.every((value, field) => !isNumberField(names[field] ?? '') || NUMBER.test(value)),
    )
    .map((values) => kindOfValue(values[client] ?? ''))
    .filter((kind) => kind !== 'other')
  return kinds.length * 2 > lines && kinds.some((kind) => kind !== 'missing')
}

/** @param known the pattern of a known program, in nginx's words; `null` if the user gives one */
function definition<const Name extends string>(
  name: Name,
  title: string,
  example: string,
  known: string | null,
  writer: Partial<Pattern> = {},
): FormatDefinition<PatternPlan<Name>> {
  const pattern = known === null ? null : { ...patternOf(known), ...writer }
  return {
    name,
    title,
    example,
    mayBeWrapped: true,
    requiredForRows: [],
    recognise: (sample) => pattern !== null && looksLikePattern(sample, pattern),
    plan: (sample, options) => planPattern(sample, options, name, pattern),
    layout: plainLayout,
    addressPosition: ({ pattern: { fields }, address }) => `in the field ${fields[address]?.name}`,
    form: lineForm,
    fieldNames: (plan) => fieldNamesOf(plan.pattern),
    makeReader: (plan) => new PatternReader(plan.pattern, plan),
  }
}

/** Squid's native format, https://wiki.squid-cache.org/Features/LogFormat */
export const SQUID = definition(
  'squid',
  'access log of Squid, native',
  '1782907200.123    120 81.2.69.142 TCP_MISS/200 512 GET http://example.com/ - HIER_DIRECT/192.0.2.9 text/html',
  '$time $elapsed $client_ip $result/$status $bytes $method $url $user $hierarchy/$peer $content_type',
  { pads: true },
)
/** "Access logs for your Classic Load Balancer" */
export const AWS_ELB = definition(
  'aws-elb',
  'log of a Classic Load Balancer of AWS',
  '2026-07-01T12:00:00.123456Z web 81.2.69.142:51234 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://example.com:80/ HTTP/1.1" "curl/8.5.0" - -',
  '$time $elb $client_ip $backend $request_time $backend_time $response_time $elb_status_code $backend_status_code $received_bytes $sent_bytes "$request" "$user_agent" $ssl_cipher $ssl_protocol',
  { grows: true },
)
/** "Access logs for your Application Load Balancer" */
export const AWS_ALB = definition(
  'aws-alb',
  'log of an Application Load Balancer of AWS',
  'https 2026-07-01T12:00:00.123456Z app/web/1 81.2.69.142:51234 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET https://example.com:443/ HTTP/1.1" "curl/8.5.0" TLS_AES_128_GCM_SHA256 TLSv1.3 arn:aws:elasticloadbalancing:eu-west-1:1:targetgroup/web/1',
  '$type $time $elb $client_ip $target $request_time $target_time $response_time $elb_status_code $target_status_code $received_bytes $sent_bytes "$request" "$user_agent" $ssl_cipher $ssl_protocol $target_group_arn',
  { grows: true },
)
/** "Amazon S3 server access log format" */
export const AWS_S3 = definition(
  'aws-s3',
  'server access log of Amazon S3',
  '79a5 photos [01/Jul/2026:12:00:00 +0000] 81.2.69.142 79a5 3E57 REST.GET.OBJECT cat.jpg "GET /photos/cat.jpg HTTP/1.1" 200 - 512 512 7 6 "-" "curl/8.5.0" -',
  '$bucket_owner $bucket [$time] $client_ip $requester $request_id $operation $key "$request" $status $error_code $bytes_sent $object_size $total_time $turn_around_time "$referer" "$user_agent" $version_id',
  { grows: true },
)
export const CUSTOM_LOG = definition(
  'custom-log',
  'any log of nginx or Apache, by its directive: --log-format',
  '81.2.69.142 [01/Jul/2026:12:00:00 +0000] 200',
  null,
)
