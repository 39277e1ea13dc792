import { ADDRESS_FIELDS, kindOfValue, LIST_FIELDS, plainName, type ValueKind } from '../address-field.ts'

/** What the values of a column are. */
export interface ColumnKinds {
  /** From 0. */
  readonly column: number
  /** '' where the file has no header. */
  readonly name: string
  readonly kinds: ReadonlyMap<ValueKind, number>
}

export function columnKinds(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): ColumnKinds[] {
  return Array.from({ length: width }, (_, column) => {
    const kinds = new Map<ValueKind, number>()
    for (const row of rows) {
      const kind = kindOfValue(row[column] ?? '')
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    }
    return { column, name: names[column] ?? '', kinds }
  })
}

/**
 * Chooses the column with the client's address: one with a usual name, best first, and addresses in at least half
 * of its values. A column that is alone in holding addresses needs no usual name; where there are no rows at all, a
 * name is enough.
 *
 * @param isTrusting whether proxies are trusted, so that a list of hops is what is looked for
 */
export function chooseColumn(columns: readonly ColumnKinds[], isTrusting: boolean): ColumnKinds | null {
  const hasRows = columns.some(({ kinds }) => kinds.size > 0)
  const names = isTrusting ? [...LIST_FIELDS, ...ADDRESS_FIELDS] : ADDRESS_FIELDS
  const fit = hasRows ? columns.filter((column) => holdsAddresses(column, isTrusting)) : columns
  for (const name of names) {
    const named = fit.find((column) => plainName(column.name) === name)
    if (named !== undefined) return named
  }
  const [only, ...others] = fit
  return hasRows && only !== undefined && others.length === 0 ? only : null
}

export function holdsAddresses({ kinds }: ColumnKinds, isTrusting: boolean): boolean {
  const lists = kinds.get('list') ?? 0
  const addresses = (kinds.get('address') ?? 0) + (isTrusting ? lists : 0)
  const others = (kinds.get('other') ?? 0) + (isTrusting ? 0 : lists)
  return addresses > 0 && addresses >= others
}
