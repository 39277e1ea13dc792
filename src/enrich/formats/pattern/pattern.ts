// Logs whose lines are written by a pattern: that of a known program, or one that the user gives.
import { plainLayout } from '../../reading/layout.ts'
import { lineForm } from '../../writing/record-form.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { type Pattern, patternOf } from './directive.ts'
import { fieldNamesOf, PatternReader, usualFieldsOf } from './pattern-reader.ts'
import { looksLikePattern, type PatternPlan, planPattern } from './plan.ts'

/**
 * The patterns of known programs, in nginx's words.
 * - `squid`: Squid's native format, https://wiki.squid-cache.org/Features/LogFormat
 * - `aws-elb`, `aws-alb`: load balancers of AWS, "Access logs for your Classic Load Balancer" and "… Application Load Balancer"
 * - `aws-s3`: "Amazon S3 server access log format"
 */
const KNOWN = {
  squid: {
    ...patternOf(
      '$time $elapsed $client_ip $result/$status $bytes $method $url $user $hierarchy/$peer $content_type',
    ),
    pads: true,
  },
  'aws-elb': {
    ...patternOf(
      '$time $elb $client_ip $backend $request_time $backend_time $response_time $elb_status_code $backend_status_code $received_bytes $sent_bytes "$request" "$user_agent" $ssl_cipher $ssl_protocol',
    ),
    grows: true,
  },
  'aws-alb': {
    ...patternOf(
      '$type $time $elb $client_ip $target $request_time $target_time $response_time $elb_status_code $target_status_code $received_bytes $sent_bytes "$request" "$user_agent" $ssl_cipher $ssl_protocol $target_group_arn',
    ),
    grows: true,
  },
  'aws-s3': {
    ...patternOf(
      '$bucket_owner $bucket [$time] $client_ip $requester $request_id $operation $key "$request" $status $error_code $bytes_sent $object_size $total_time $turn_around_time "$referer" "$user_agent" $version_id',
    ),
    grows: true,
  },
} as const satisfies Readonly<Record<string, Pattern>>

type PatternFormat = keyof typeof KNOWN | 'custom-log'

function definition<Name extends PatternFormat>(
  name: Name,
  title: string,
  example: string,
  pattern: Pattern | null,
): FormatDefinition<PatternPlan & { readonly format: Name }> {
  return {
    name,
    title,
    example,
    options: ['field', 'timeField', 'append', ...(pattern === null ? (['logFormat'] as const) : [])],
    mayBeWrapped: true,
    requiredForRows: [],
    recognise: (sample) => pattern !== null && looksLikePattern(sample, pattern),
    plan: (sample, isWhole, options) => {
      const { plan, notes } = planPattern(sample, isWhole, options, name, pattern)
      return { plan: { ...plan, format: name }, notes }
    },
    layout: plainLayout,
    addressPosition: ({ pattern: { fields }, address }) => `in the field ${fields[address]?.name}`,
    form: lineForm,
    fieldNames: (plan) => fieldNamesOf(plan.pattern),
    usualFields: (plan) => usualFieldsOf(plan.pattern),
    makeReader: (plan) => new PatternReader(plan.pattern, plan),
  }
}

export const SQUID = definition(
  'squid',
  'access log of Squid, native',
  '1782907200.123    120 81.2.69.142 TCP_MISS/200 512 GET http://example.com/ - HIER_DIRECT/192.0.2.9 text/html',
  KNOWN.squid,
)
export const AWS_ELB = definition(
  'aws-elb',
  'log of a Classic Load Balancer of AWS',
  '2026-07-01T12:00:00.123456Z web 81.2.69.142:51234 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://example.com:80/ HTTP/1.1" "curl/8.5.0" - -',
  KNOWN['aws-elb'],
)
export const AWS_ALB = definition(
  'aws-alb',
  'log of an Application Load Balancer of AWS',
  'https 2026-07-01T12:00:00.123456Z app/web/1 81.2.69.142:51234 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET https://example.com:443/ HTTP/1.1" "curl/8.5.0" TLS_AES_128_GCM_SHA256 TLSv1.3 arn:aws:elasticloadbalancing:eu-west-1:1:targetgroup/web/1',
  KNOWN['aws-alb'],
)
export const AWS_S3 = definition(
  'aws-s3',
  'server access log of Amazon S3',
  '79a5 photos [01/Jul/2026:12:00:00 +0000] 81.2.69.142 79a5 3E57 REST.GET.OBJECT cat.jpg "GET /photos/cat.jpg HTTP/1.1" 200 - 512 512 7 6 "-" "curl/8.5.0" -',
  KNOWN['aws-s3'],
)
export const CUSTOM_LOG = definition(
  'custom-log',
  'any log of nginx or Apache, by its directive: --log-format',
  '81.2.69.142 [01/Jul/2026:12:00:00 +0000] 200',
  null,
)
