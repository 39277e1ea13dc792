import { quoted } from '../errors.ts'
import { utf8Decoder } from '../realm.ts'
import type { ServiceRequest } from './exchange.ts'
import type { Plan } from './plan.ts'
import type { Problem } from './problem.ts'

/** The addresses and the options of a batch. */
export interface Batch {
  readonly ips: readonly string[]
  /** The member `locale`, which is not checked yet. */
  readonly locale: string | undefined
}

const SHAPE = 'The body must be ["81.2.69.142", …] or {"ips": ["81.2.69.142", …], "locale": "de"}.'

const decoder = /* @__PURE__ */ utf8Decoder({ fatal: true })

/**
 * Reads the body of a batch: an array of texts, or an object with the member `ips` and optionally `locale`. Ignores other
 * members.
 *
 * @param maxBytes limit of the body
 */
export async function readBatch(asked: ServiceRequest, maxBytes: number): Promise<Batch | Problem> {
  const type = asked.get('content-type')
  if (type === null || !isJson(type)) {
    return { code: 'UNSUPPORTED_MEDIA_TYPE', detail: 'The body must be application/json in UTF-8.' }
  }
  const encoding = asked.get('content-encoding')
  if (encoding !== null && encoding.toLowerCase() !== 'identity') {
    return { code: 'UNSUPPORTED_MEDIA_TYPE', detail: 'The body must not be compressed.' }
  }
  const bytes = await asked.body(maxBytes).catch(() => undefined)
  if (bytes === undefined)
    return { code: 'MALFORMED_REQUEST', detail: 'The body ended early, or was read before.' }
  if (bytes === null) return { code: 'TOO_LARGE', detail: `The body must have at most ${maxBytes} bytes.` }
  let value: unknown
  try {
    value = JSON.parse(decoder.decode(bytes))
  } catch {
    return { code: 'MALFORMED_REQUEST', detail: `The body is not JSON in UTF-8. ${SHAPE}` }
  }
  return batchOf(value)
}

function batchOf(value: unknown): Batch | Problem {
  const { ips, locale }: { ips?: unknown; locale?: unknown } = Array.isArray(value)
    ? { ips: value }
    : typeof value === 'object' && value !== null
      ? value
      : {}
  if (!Array.isArray(ips) || !ips.every(isText)) return { code: 'MALFORMED_REQUEST', detail: SHAPE }
  if (locale !== undefined && typeof locale !== 'string') {
    return { code: 'INVALID_LOCALE', detail: 'The member "locale" must be a text such as "de".' }
  }
  return { ips, locale }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** Whether a media type is `application/json`, whose only charset is UTF-8. */
function isJson(type: string): boolean {
  const [essence = '', ...parameters] = type.toLowerCase().split(';')
  return (
    essence.trim() === 'application/json' &&
    parameters.every((each) => !/^\s*charset=/.test(each) || /^\s*charset="?utf-8"?\s*$/.test(each))
  )
}

/** The problem of a batch with more addresses than the plan or the service allows. `null` for other batches. */
export function tooManyItems(count: number, plan: Plan, maxBatch: number): Problem | null {
  const most = Math.min(maxBatch, plan.batch)
  if (count <= most) return null
  const who = most === plan.batch ? `the plan ${quoted(plan.name)}` : 'the service'
  return { code: 'TOO_LARGE', detail: `The batch has ${count} addresses; ${who} allows ${most}.` }
}
