import { PLAN_NAME } from '../../http/plan.ts'
import { MAX_LABEL_CHARS } from '../../node/keys/key-list.ts'
import { type OptionDefinition, readInstant } from '../options.ts'
import { UsageError } from '../terminal.ts'

const FILE = {
  flags: '--keys <file>',
  text: 'the file of keys. It has no keys, only their SHA-256 digests. A new one can be read by its owner only (mode 0600); an existing one keeps its owner and mode',
  isRequired: true,
} as const satisfies OptionDefinition

const expires = <Default extends string>(defaultText: Default) =>
  ({
    flags: '--expires <time>',
    text: `when the key stops being valid: \`2027-07-01\`, or a time with \`Z\` or an offset (default: ${defaultText})`,
    read: readExpiry,
  }) as const satisfies OptionDefinition

/** The options of each `geofix keys` command. */
export const KEYS_OPTIONS = {
  add: [
    FILE,
    {
      flags: '--plan <name>',
      text: 'the plan of the key, such as `developer`',
      read: readPlan,
      isRequired: true,
    },
    { flags: '--label <text>', text: 'whose key it is, for people', read: readLabel, isRequired: true },
    expires('never'),
  ],
  list: [FILE],
  revoke: [FILE],
  rotate: [FILE, expires('as the other key')],
} as const satisfies Record<string, readonly OptionDefinition[]>

function readPlan(text: string): string {
  if (PLAN_NAME.test(text)) return text
  throw new UsageError('Write the name of a plan, such as developer.')
}

function readLabel(text: string): string {
  if (text.length <= MAX_LABEL_CHARS) return text
  throw new UsageError(`Write at most ${MAX_LABEL_CHARS} characters.`)
}

function readExpiry(text: string): Date {
  const instant = readInstant(text)
  if (instant.getTime() > Date.now()) return instant
  throw new UsageError('Write a time in the future.')
}
