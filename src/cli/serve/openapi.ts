import packageJson from '../../../package.json' with { type: 'json' }
import { PROBLEMS, type ProblemCode } from '../../http/problem.ts'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: object) => ({ 'application/json': { schema } })

/** In a record, `null` means unknown. */
const textOrNull = (description: string) => ({ type: ['string', 'null'], description })
const numberOrNull = (limit: number) => ({ type: ['number', 'null'], minimum: -limit, maximum: limit })

/** An object with exactly these members. All are required but those in `optional`. */
function closed(
  properties: Readonly<Record<string, object>>,
  description?: string,
  optional: readonly string[] = [],
): object {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', description, properties, required, additionalProperties: false }
}

const REASON = {
  type: 'string',
  description: 'Why an address cannot be resolved, such as private or not-found',
}

/** @param isWhole whether all members are there. @param hasAsn whether there are autonomous systems */
function recordSchema(isWhole: boolean, hasAsn: boolean, description: string): object {
  const part = (members: Readonly<Record<string, object>>, text?: string): object =>
    closed(members, text, isWhole ? [] : Object.keys(members))
  return part(
    {
      ip: { type: 'string', description: 'Canonical text (RFC 5952) of the address' },
      country: part({
        code: textOrNull('ISO 3166-1 alpha-2'),
        name: textOrNull('In the language of locale'),
      }),
      region: part({
        name: textOrNull('In the language of locale'),
        code: textOrNull('ISO 3166-2, such as US-CA'),
      }),
      city: textOrNull('The English name, or with --city-names locale that in the language of locale'),
      postal_code: textOrNull('Text, because leading zeros count'),
      coordinates: part({ latitude: numberOrNull(90), longitude: numberOrNull(180) }),
      timezone: part({
        id: textOrNull('IANA identifier'),
        offset: { ...textOrNull('Offset from UTC now'), pattern: '^[+-][0-9]{2}:[0-9]{2}$' },
      }),
      ...(hasAsn ? { asn: { oneOf: [part(ASN, ASN_TEXT), { type: 'null' }] } } : {}),
    },
    description,
  )
}

const ASN_TEXT = 'The autonomous system that announces the network of the address. null: none is known'

const ASN = {
  number: { type: 'integer', minimum: 1, maximum: 4_294_967_295 },
  organization: textOrNull('The name in the database'),
  network: { type: 'string', description: 'A network with this system around the address, as CIDR text' },
}

const LOOKUP_FAILURE = closed({
  ip: { type: 'string' },
  error: closed(
    {
      code: { enum: ['MALFORMED_ADDRESS', 'UNRESOLVABLE_ADDRESS', 'INVALID_DATABASE'] },
      status: { enum: [400, 422, null] },
      message: { type: 'string' },
      reason: REASON,
    },
    undefined,
    ['reason'],
  ),
})

const PROBLEM = closed(
  {
    type: { const: 'about:blank' },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string' },
    code: { enum: Object.keys(PROBLEMS) },
    reason: REASON,
  },
  'RFC 9457. Tell problems apart by code.',
  ['reason'],
)

const text = (description: string) => ({ schema: { type: 'string' }, description })

/** Header fields of every answer. */
const REQUEST_ID = {
  'X-Request-Id': text('That of the request if it is well formed: at most 128 letters, digits and ._:+/=@-'),
}

/** Header fields of the answer to a request that was counted. */
const LIMITS = {
  RateLimit: text('What is left: "developer";r=199;t=2'),
  'RateLimit-Policy': text('The budget: "developer";q=200;w=2'),
}

const CHALLENGE = {
  'WWW-Authenticate': text('Bearer with a realm, and with an error if there was a key (RFC 6750)'),
}

/** More header fields of problems, by status. */
const PROBLEM_HEADERS: Readonly<Record<number, object>> = {
  400: LIMITS,
  401: { ...LIMITS, ...CHALLENGE },
  403: { ...LIMITS, ...CHALLENGE },
  405: { Allow: text('The methods that the path has') },
  413: LIMITS,
  415: LIMITS,
  422: LIMITS,
  429: {
    ...LIMITS,
    'Retry-After': { schema: { type: 'integer', minimum: 1 }, description: 'Seconds to wait' },
  },
}

/** The statuses of problems that every operation has. */
const COMMON: readonly ProblemCode[] = [
  'MALFORMED_REQUEST',
  'UNAUTHENTICATED',
  'METHOD_NOT_ALLOWED',
  'REQUEST_TIMEOUT',
  'RATE_LIMITED',
  'EXPECTATION_FAILED',
  'HEADER_TOO_LARGE',
  'INTERNAL_ERROR',
  'NOT_IMPLEMENTED',
  'INVALID_FIELDS',
]

function responses(content: object, problems: readonly ProblemCode[]): Record<string, object> {
  const byStatus: Record<string, object> = {
    200: { description: 'Success', headers: { ...REQUEST_ID, ...LIMITS }, content },
  }
  for (const code of [...COMMON, ...problems]) {
    const [status] = PROBLEMS[code]
    const titles = Object.values(PROBLEMS)
      .filter(([each]) => each === status)
      .map(([, title]) => title)
    byStatus[status] = {
      description: `${titles.join('; ')}.`,
      headers: { ...REQUEST_ID, ...PROBLEM_HEADERS[status] },
      content: { 'application/problem+json': { schema: ref('Problem') } },
    }
  }
  return byStatus
}

const LOCALE = {
  name: 'locale',
  in: 'query',
  description: 'BCP 47 tag of the language of names of countries and regions. Default: en',
  schema: { type: 'string' },
}

const FIELDS = {
  name: 'fields',
  in: 'query',
  description:
    'The fields of records, such as city,country.code, separated by commas; country stands for all of the country. Default: all',
  schema: { type: 'string' },
}

/** A record, or text for people. */
const RECORD = {
  ...json({ anyOf: [ref('LocationRecord'), ref('PartialRecord')] }),
  'text/plain': {
    schema: { type: 'string', description: 'A line for each of the fields; without fields "name: value"' },
  },
}

const IPS = {
  type: 'array',
  items: { type: 'string' },
  description: 'As many addresses as the plan of the key allows: 1,000 in the default plans',
}

const openApi = (basePath: string, hasAsn: boolean) => ({
  openapi: '3.1.0',
  info: {
    title: 'Geofix',
    version: packageJson.version,
    description: 'Where is this IP address? Answered from a database in memory.',
    contact: { name: 'The operator of this service' },
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: basePath === '' ? '/' : basePath, description: 'This service' }],
  tags: [{ name: 'locations', description: 'Where addresses are' }],
  security: [{ key: [] }],
  paths: {
    '/v1/ip': {
      get: {
        operationId: 'detect',
        tags: ['locations'],
        summary: 'The location of the caller',
        description:
          'The caller is the peer of the connection, or the client that a trusted proxy reports. For the location of a visitor of your own server, look up the address of the visitor.',
        parameters: [LOCALE, FIELDS],
        responses: responses(RECORD, ['UNRESOLVABLE_ADDRESS']),
      },
    },
    '/v1/ip/{ip}': {
      get: {
        operationId: 'lookup',
        tags: ['locations'],
        summary: 'The location of an address',
        description:
          'Not in the lowest plan. Special-purpose addresses, such as private ones, and addresses that the database does not have cannot be resolved.',
        parameters: [
          { name: 'ip', in: 'path', required: true, description: 'IPv4 or IPv6', schema: { type: 'string' } },
          LOCALE,
          FIELDS,
        ],
        responses: responses(RECORD, ['PLAN_REQUIRED', 'UNRESOLVABLE_ADDRESS']),
      },
    },
    '/v1/ip/batch': {
      post: {
        operationId: 'batch',
        tags: ['locations'],
        summary: 'The locations of many addresses, in their order',
        description:
          'Not in the lowest plan. Counts as one request. Each address that has no location has a failure in its place.',
        parameters: [LOCALE, FIELDS],
        requestBody: {
          required: true,
          content: json({
            oneOf: [
              IPS,
              { type: 'object', properties: { ips: IPS, locale: { type: 'string' } }, required: ['ips'] },
            ],
          }),
        },
        responses: responses(
          json({
            type: 'array',
            items: { anyOf: [ref('LocationRecord'), ref('PartialRecord'), ref('LookupFailure')] },
          }),
          ['PLAN_REQUIRED', 'TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'],
        ),
      },
    },
  },
  components: {
    securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'An API key, live_…' } },
    schemas: {
      LocationRecord: recordSchema(true, hasAsn, 'Every member is always there. null: unknown.'),
      PartialRecord: recordSchema(
        false,
        hasAsn,
        'A record with the fields of the parameter fields. null: unknown.',
      ),
      LookupFailure: LOOKUP_FAILURE,
      Problem: PROBLEM,
    },
  },
})

/**
 * The description of the service, OpenAPI 3.1.
 *
 * @param basePath what precedes `/v1` in the path
 * @param hasAsn whether records have a member `asn`
 */
export function openApiJson(basePath: string, hasAsn = false): string {
  return JSON.stringify(openApi(basePath, hasAsn))
}
