import { MAX_QUOTED_CHARS, quoted } from '../address/quoted.ts'

/** Names that cannot be taken for the words around them. */
const USUAL = /^[\w./~@$-]+$/

/** The name of a field, or a path to it, for a message: a usual one as it is, any other quoted and cut. */
export function shownName(name: string): string {
  return name.length <= MAX_QUOTED_CHARS && USUAL.test(name) ? name : quoted(name)
}
