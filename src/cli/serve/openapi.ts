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

const LOCATION_RECORD = closed(
  {
    ip: { type: 'string', description: 'Canonical text (RFC 5952) of the address' },
    country: closed({
      code: textOrNull('ISO 3166-1 alpha-2'),
      name: textOrNull('In the language of locale'),
    }),
    region: closed({
      name: textOrNull('In the language of locale'),
      code: textOrNull('ISO 3166-2, such as US-CA'),
    }),
    city: textOrNull('The English name'),
    postal_code: textOrNull('Text, because leading zeros count'),
    coordinates: closed({ latitude: numberOrNull(90), longitude: numberOrNull(180) }),
    timezone: closed({
      id: textOrNull('IANA identifier'),
      offset: { ...textOrNull('Offset from UTC now'), pattern: '^[+-][0-9]{2}:[0-9]{2}$' },
    }),
  },
  'Every member is always there. null: unknown.',
)

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

const HEADERS = {
  RateLimit: { schema: { type: 'string' }, description: 'What is left: "developer";r=199;t=2' },
  'RateLimit-Policy': { schema: { type: 'string' }, description: 'The budget: "developer";q=200;w=2' },
}

/** The statuses of problems that every operation has. */
const COMMON: readonly ProblemCode[] = [
  'MALFORMED_REQUEST',
  'UNAUTHENTICATED',
  'METHOD_NOT_ALLOWED',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'STOPPING',
]

function responses(schema: object, problems: readonly ProblemCode[]): Record<string, object> {
  const byStatus: Record<string, object> = {
    200: { description: 'Success', headers: HEADERS, content: json(schema) },
  }
  for (const code of [...COMMON, ...problems]) {
    const [status] = PROBLEMS[code]
    const titles = Object.values(PROBLEMS)
      .filter(([each]) => each === status)
      .map(([, title]) => title)
    byStatus[status] = {
      description: titles.join('; '),
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

const IPS = {
  type: 'array',
  items: { type: 'string' },
  description: 'As many addresses as the plan of the key allows: 1,000 in the default plans',
}

const openApi = (basePath: string) => ({
  openapi: '3.1.0',
  info: {
    title: 'Geofix',
    version: packageJson.version,
    description: 'Where is this IP address? Answered from a database in memory.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: basePath === '' ? '/' : basePath }],
  security: [{ key: [] }],
  paths: {
    '/v1/ip': {
      get: {
        operationId: 'detect',
        summary: 'The location of the caller',
        parameters: [LOCALE],
        responses: responses(ref('LocationRecord'), ['UNRESOLVABLE_ADDRESS']),
      },
    },
    '/v1/ip/{ip}': {
      get: {
        operationId: 'lookup',
        summary: 'The location of an address',
        parameters: [
          { name: 'ip', in: 'path', required: true, description: 'IPv4 or IPv6', schema: { type: 'string' } },
          LOCALE,
        ],
        responses: responses(ref('LocationRecord'), ['PLAN_REQUIRED', 'UNRESOLVABLE_ADDRESS']),
      },
    },
    '/v1/ip/batch': {
      post: {
        operationId: 'batch',
        summary: 'The locations of many addresses, in their order',
        parameters: [LOCALE],
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
          { type: 'array', items: { oneOf: [ref('LocationRecord'), ref('LookupFailure')] } },
          ['PLAN_REQUIRED', 'TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'],
        ),
      },
    },
  },
  components: {
    securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'An API key, live_…' } },
    schemas: { LocationRecord: LOCATION_RECORD, LookupFailure: LOOKUP_FAILURE, Problem: PROBLEM },
  },
})

/** The description of the service, OpenAPI 3.1. @param basePath what precedes `/v1` in the path */
export function openApiJson(basePath: string): string {
  return JSON.stringify(openApi(basePath))
}
