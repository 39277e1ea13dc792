import { GeofixError, quoted } from '../../errors.ts'

/** A key as the file has it. */
export interface KeyEntry {
  /** A random name that is not secret. */
  readonly id: string
  readonly plan: string
  readonly label: string
  /** When it was made: ISO 8601. */
  readonly created: string
  /** When it stops being valid; `null` if never. */
  readonly expires: string | null
  /** SHA-256 of the key, in hexadecimal. */
  readonly digest: string
}

/** Larger files are refused: a million keys are more than a file is for. */
export const MAX_KEY_FILE_BYTES = 256 * 1024 * 1024
/** The longest label. Characters. */
export const MAX_LABEL_CHARS = 200

const ID = /^[\w-]{1,64}$/
const PLAN = /^[\w-]{1,40}$/
const DIGEST = /^[0-9a-f]{64}$/

/** A key file cannot be read, is damaged, or others can write it. */
export class KeyFileError extends GeofixError {
  override readonly name = 'KeyFileError'
  readonly code = 'INVALID_KEY_FILE'
  readonly status = null
}

/**
 * Reads the text of a key file: `{ "keys": [ … ] }`.
 *
 * @throws KeyFileError when the text is not such a list, or two keys have one id or digest
 */
export function parseKeyList(text: string): readonly KeyEntry[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new KeyFileError('it is not JSON: restore it from a copy', { cause })
  }
  const { keys }: { keys?: unknown } = typeof value === 'object' && value !== null ? value : {}
  if (!Array.isArray(keys)) throw new KeyFileError('it is not { "keys": [ … ] }')
  const entries = keys.map(entryOf)
  for (const member of ['id', 'digest'] as const) {
    if (new Set(entries.map((entry) => entry[member])).size < entries.length) {
      throw new KeyFileError(`two keys have the same ${member}`)
    }
  }
  return entries
}

/** The text of a key file: a line for each key, so that a change is a line in a diff. */
export function keyListText(entries: readonly KeyEntry[]): string {
  const lines = entries.map((entry) => `  ${JSON.stringify(entry)}`)
  return lines.length === 0 ? '{"keys":[]}\n' : `{"keys":[\n${lines.join(',\n')}\n]}\n`
}

function entryOf(value: unknown, index: number): KeyEntry {
  const members: Partial<Record<keyof KeyEntry, unknown>> =
    typeof value === 'object' && value !== null ? value : {}
  const text = (member: keyof KeyEntry, isValid: (text: string) => boolean): string => {
    const each = members[member]
    if (typeof each === 'string' && isValid(each)) return each
    const shown = member === 'digest' ? '' : `: ${quoted(String(each))}`
    throw new KeyFileError(`the ${member} of key ${index + 1} is not valid${shown}`)
  }
  return {
    id: text('id', (each) => ID.test(each)),
    plan: text('plan', (each) => PLAN.test(each)),
    label: text('label', (each) => each.length <= MAX_LABEL_CHARS),
    created: text('created', isInstant),
    expires: members.expires === null ? null : text('expires', isInstant),
    digest: text('digest', (each) => DIGEST.test(each)),
  }
}

/** A time as `Date.prototype.toISOString` writes it, so that no local time can be meant. */
function isInstant(text: string): boolean {
  const instant = new Date(text)
  return !Number.isNaN(instant.getTime()) && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)
}
