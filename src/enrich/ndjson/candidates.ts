import { ADDRESS_FIELDS, kindOfValue, LIST_FIELDS, plainName, type ValueKind } from '../address-field.ts'
import { countTime, holdsTimes, type TimeCount, timeRank } from '../time-field.ts'
import { pathText } from './path.ts'

/** Levels of objects that are looked into, and members at most: foreign data bounds nothing. */
const MAX_DEPTH = 5
const MAX_LEAVES = 2000

/** Longer names on the way to a member are nobody's, in characters together: each member below them has them again. */
const MAX_NAMES = 256

/** A member with text in it, over many objects. */
export interface Leaf {
  readonly path: readonly string[]
  /** How many of its values were of a kind. */
  readonly kinds: Map<ValueKind, number>
}

/** By the text of their path. */
export type Leaves = ReadonlyMap<string, Leaf>

/**
 * Collects the members that hold text: the first 2,000, with names of at most 256 characters on their way.
 *
 * @param except a member at the top that is not looked into, or `null`
 */
export function leavesOf(objects: readonly object[], except: string | null): Leaves {
  const leaves = new Map<string, Leaf>()
  visitMembers(objects, except, (path, value) => {
    if (typeof value === 'string') note(leaves, path, kindOfValue(value))
  })
  return leaves
}

/** Calls `meet` for each member that is neither an object nor an array, with its path. */
function visitMembers(
  objects: readonly object[],
  except: string | null,
  meet: (path: readonly string[], value: unknown) => void,
): void {
  const visit = (value: unknown, path: readonly string[], length: number): void => {
    if (typeof value !== 'object' || value === null) meet(path, value)
    else if (!Array.isArray(value) && path.length < MAX_DEPTH) {
      for (const [name, inner] of Object.entries(value)) {
        const inside = length + name.length
        if (inside <= MAX_NAMES && (path.length > 0 || name !== except)) visit(inner, [...path, name], inside)
      }
    }
  }
  for (const object of objects) visit(object, [], 0)
}

function note(leaves: Map<string, Leaf>, path: readonly string[], kind: ValueKind): void {
  const text = pathText(path)
  let leaf = leaves.get(text)
  if (leaf === undefined) {
    if (leaves.size >= MAX_LEAVES) return
    leaf = { path, kinds: new Map() }
    leaves.set(text, leaf)
  }
  leaf.kinds.set(kind, (leaf.kinds.get(kind) ?? 0) + 1)
}

/**
 * Chooses the member with the time of the event: one with a usual name, best first, and times in at least half of
 * its values, texts or numbers.
 *
 * @param except a member at the top that is not looked into, or `null`
 */
export function chooseTime(objects: readonly object[], except: string | null): readonly string[] | null {
  const found = new Map<string, TimeCount & { readonly path: readonly string[]; readonly rank: number }>()
  visitMembers(objects, except, (path, value) => {
    if (typeof value !== 'string' && typeof value !== 'number') return
    const rank = timeRank(path)
    if (rank === Number.POSITIVE_INFINITY) return
    const text = pathText(path)
    const known = found.get(text)
    if (known === undefined && found.size >= MAX_LEAVES) return
    const count = known ?? { path, rank, times: 0, others: 0 }
    countTime(count, String(value))
    found.set(text, count)
  })
  const [best] = [...found.values()].filter(holdsTimes).sort((a, b) => a.rank - b.rank)
  return best?.path ?? null
}

/** The member to take, or `null`, and the others with addresses in them. */
export interface Choice {
  readonly best: readonly string[] | null
  readonly others: readonly (readonly string[])[]
}

/**
 * Chooses the member with the client's address: one with a usual name, and addresses in at least half of its
 * values. A member that is alone in holding addresses needs no usual name.
 *
 * @param isTrusting whether proxies are trusted, so that a list of hops is what is looked for
 */
export function chooseAddress(leaves: Leaves, isTrusting: boolean): Choice {
  const fit = [...leaves.values()].filter((leaf) => holdsAddresses(leaf, isTrusting))
  const ranked = fit
    .map((leaf) => ({ leaf, rank: rankOf(leaf.path, isTrusting) }))
    .sort((a, b) => a.rank - b.rank)
  const [first] = ranked
  const isChosen = first !== undefined && (first.rank < Number.POSITIVE_INFINITY || ranked.length === 1)
  return {
    best: isChosen ? first.leaf.path : null,
    others: ranked.slice(isChosen ? 1 : 0, isChosen ? 4 : 8).map(({ leaf }) => leaf.path),
  }
}

function holdsAddresses({ kinds }: Leaf, isTrusting: boolean): boolean {
  const addresses = (kinds.get('address') ?? 0) + (isTrusting ? (kinds.get('list') ?? 0) : 0)
  const others = (kinds.get('other') ?? 0) + (isTrusting ? 0 : (kinds.get('list') ?? 0))
  return addresses > 0 && addresses >= others
}

/** Members of these names say whose address it is by what they are in: `client.ip`, but `server.ip`. */
const VAGUE = new Set(['ip', 'ipaddress', 'ipaddr', 'address', 'addr', 'host'])

/** Less is better; infinite without a usual name. */
function rankOf(path: readonly string[], isTrusting: boolean): number {
  const names = isTrusting ? [...LIST_FIELDS, ...ADDRESS_FIELDS] : ADDRESS_FIELDS
  const own = plainName(path.at(-1) ?? '')
  const withParent = plainName(path.slice(-2).join(''))
  const isTold = path.length === 1 || !VAGUE.has(own)
  const ranks = [names.indexOf(withParent), isTold ? names.indexOf(own) : -1].filter((rank) => rank >= 0)
  // Of the same name the outer one.
  return ranks.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...ranks) + path.length / 100
}
