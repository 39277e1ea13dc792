import { PLAN_NAME } from '../../http/rate-limit.ts'
import { MAX_LABEL_CHARS } from '../../node/keys/key-list.ts'
import {
  INSTANT,
  type OptionDefinitions,
  type OptionGroups,
  type OptionKind,
  TEXT,
} from '../../option-kinds.ts'
import { UsageError } from '../terminal.ts'

const PLAN: OptionKind<string> = {
  what: 'the name of a plan, such as developer',
  read: (text) => (PLAN_NAME.test(text) ? text : undefined),
}

const LABEL: OptionKind<string> = {
  what: `at most ${MAX_LABEL_CHARS} characters`,
  read: (text) => (text.length <= MAX_LABEL_CHARS ? text : undefined),
}

const EXPIRY: OptionKind<Date> = {
  ...INSTANT,
  read: (text) => {
    const instant = INSTANT.read?.(text)
    if (instant === undefined || instant.getTime() > Date.now()) return instant
    throw new UsageError('Write a time in the future.')
  },
}

const FILE = {
  keys: {
    flags: '--keys <file>',
    kind: TEXT,
    text: 'the file of keys. It has no keys, only their SHA-256 digests. A new one can be read by its owner only (mode 0600); an existing one keeps its owner and mode',
    isRequired: true,
  },
} as const satisfies OptionDefinitions

const expires = <Default extends string>(defaultText: Default) =>
  ({
    expires: {
      flags: '--expires <time>',
      kind: EXPIRY,
      text: `when the key stops being valid: \`2027-07-01\`, or a time with \`Z\` or an offset (default: ${defaultText})`,
    },
  }) as const satisfies OptionDefinitions

/** The options of each `geofix keys` command. */
export const KEYS_OPTIONS = {
  add: {
    Options: {
      ...FILE,
      plan: {
        flags: '--plan <name>',
        kind: PLAN,
        text: 'the plan of the key, such as `developer`',
        isRequired: true,
      },
      label: { flags: '--label <text>', kind: LABEL, text: 'whose key it is, for people', isRequired: true },
      ...expires('never'),
    },
  },
  list: { Options: FILE },
  revoke: { Options: FILE },
  rotate: { Options: { ...FILE, ...expires('as the other key') } },
} as const satisfies Record<string, OptionGroups>
