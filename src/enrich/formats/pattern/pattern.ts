// Logs whose lines are written by a pattern: that of a known program, or one that the user gives.
import { plainLayout } from '../../reading/layout.ts'
import { appendedNothing, appendTemplate } from '../../writing/appended-location.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { type Pattern, patternOf } from './directive.ts'
import { PatternLines } from './pattern-lines.ts'
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
  pattern: Pattern | null,
): FormatDefinition<PatternPlan & { readonly format: Name }> {
  return {
    name,
    options: [
      'field',
      'timeField',
      'into',
      'append',
      'fields',
      ...(pattern === null ? (['logFormat'] as const) : []),
    ],
    mayBeWrapped: true,
    requiredForRows: [],
    recognise: (sample) => pattern !== null && looksLikePattern(sample, pattern),
    plan: (sample, isWhole, options) => {
      const { plan, notes } = planPattern(sample, isWhole, options, name, pattern)
      return { plan: { ...plan, format: name }, notes }
    },
    layout: plainLayout,
    addressPosition: ({ pattern: { fields }, address }) => `in the field ${fields[address]?.name}`,
    locationTemplate: appendTemplate,
    appended: appendedNothing,
    makeLines: (plan, locator) => new PatternLines(plan, locator),
  }
}

export const SQUID = definition('squid', KNOWN.squid)
export const AWS_ELB = definition('aws-elb', KNOWN['aws-elb'])
export const AWS_ALB = definition('aws-alb', KNOWN['aws-alb'])
export const AWS_S3 = definition('aws-s3', KNOWN['aws-s3'])
export const CUSTOM_LOG = definition('custom-log', null)
