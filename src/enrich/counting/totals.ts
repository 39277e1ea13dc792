// The counts of all lines of a run: the sums of what its threads have counted.
import type { CountPlan, CountValue } from '../count-plan.ts'
import { type GroupPart, Groups } from './groups.ts'
import type { Ranks } from './sorting.ts'
import { type DimensionValues, Networks, NO_CODE, type TextMask, valuesOf } from './values.ts'

export interface CountryCount {
  /** ISO 3166-1 alpha-2, or `null`. */
  readonly code: string | null
  /** The name in the language of the run. */
  readonly name: string | null
  readonly count: number
}

/** A column of the keys. */
export interface CountColumn {
  readonly name: string
  /** How many codes there are. */
  readonly size: number
  /** The code of each group, or of each row of a table. */
  readonly codes: Int32Array
  value(code: number): CountValue
}

export interface GroupColumn extends CountColumn {
  /** The ranks of the codes by their values: by the first ranks, then by the next ones. */
  ranks(areDays: boolean): readonly Ranks[]
}

/** The groups of all lines of a run: the sum of parts. */
export class GroupTotals extends Groups {
  /** Fields of the log that no line has, by their index in the plan; `null` before the first part. */
  absentFields: readonly number[] | null = null
  readonly #values: readonly DimensionValues[]

  /** @param mask for addresses, networks and fields of the log; `null` if they are shown */
  constructor(plan: CountPlan, mask: TextMask | null = null) {
    super(plan)
    this.#values = plan.dimensions.map((each) => valuesOf(each, mask))
  }

  /** One of this many addresses is in the sample that distinct addresses are estimated from; 1 if they are exact. */
  get sampling(): number {
    return 2 ** (this.distinct?.halvings ?? 0)
  }

  add(part: GroupPart): void {
    const { next } = this
    const width = next.length
    const lines = part.counts.length
    const own = part.values.map((values, dimension) => this.#values[dimension]?.codesOf(values, !this.isFull))
    if (lines > 0 && this.size === 0 && this.other === 0 && own.every((each) => each === null))
      this.adopt(part)
    else {
      const groups = new Int32Array(lines)
      for (let group = 0; group < lines; group++) {
        for (let dimension = 0; dimension < width; dimension++) {
          const code = part.groups[group * width + dimension] ?? NO_CODE
          const codesOf = own[dimension]
          next[dimension] = codesOf === null ? code : (codesOf?.[code] ?? NO_CODE)
        }
        groups[group] = this.count(part.counts[group] ?? 0)
        this.addSum(groups[group] ?? NO_CODE, part.sums?.[1 + group] ?? 0)
      }
      this.addSum(NO_CODE, part.sums === null ? Number.NaN : (part.sums[0] ?? 0))
      if (part.pairs !== null) this.distinct?.merge(part.pairs, part.halvings, groups)
    }
    this.other += part.other
    for (const kind of ['instants', 'localTimes'] as const)
      this[kind].add(part[kind].first, part[kind].last, part[kind].lines)
    this.absentFields =
      this.absentFields?.filter((field) => part.absentFields.includes(field)) ?? part.absentFields
  }

  /** The values of a dimension's columns. */
  valuesOf(dimension: number, code: number): readonly CountValue[] {
    return this.#values[dimension]?.at(code) ?? []
  }

  /** The results of a function for the values of each code of a dimension. */
  mapValues<Made>(dimension: number, make: (values: readonly CountValue[]) => Made): Made[] {
    const { size = 0 } = this.#values[dimension] ?? {}
    return Array.from({ length: size }, (_, code) => make(this.valuesOf(dimension, code)))
  }

  /** The sums of the numbers of groups, by their codes of a dimension. Empty without numbers. */
  sumsBy(dimension: number, numbers: Float64Array | null): Float64Array {
    const sums = new Float64Array(numbers === null ? 0 : (this.#values[dimension]?.size ?? 0))
    const { codes } = this
    const width = this.plan.dimensions.length
    for (let group = 0; group < (numbers?.length ?? 0); group++) {
      const code = codes[group * width + dimension] ?? NO_CODE
      sums[code] = (sums[code] ?? 0) + (numbers?.[group] ?? 0)
    }
    return sums
  }

  /** The networks of a dimension of addresses. @throws RangeError for another dimension */
  networksOf(dimension: number): Networks {
    const values = this.#values[dimension]
    if (values instanceof Networks) return values
    throw new RangeError('this dimension is not an address')
  }

  /** The distinct addresses of each group; `null` if they are not counted. */
  uniques(): Float64Array | null {
    return this.distinct?.counts(this.size) ?? null
  }

  /** The columns of the plan. */
  get columns(): GroupColumn[] {
    const { dimensions, columns } = this.plan
    const { codes } = this
    const names = dimensions.map((each): readonly string[] => each.columns)
    const ofDimensions = names.map((_, dimension) => {
      const own = new Int32Array(this.size)
      for (let group = 0; group < own.length; group++)
        own[group] = codes[group * names.length + dimension] ?? NO_CODE
      return own
    })
    return columns.map((name) => {
      const dimension = names.findIndex((each) => each.includes(name))
      const at = names[dimension]?.indexOf(name) ?? 0
      const values = this.#values[dimension]
      return {
        name,
        size: values?.size ?? 0,
        codes: ofDimensions[dimension] ?? codes,
        value: (code) => values?.at(code)[at] ?? null,
        ranks: (areDays) => values?.ranks(at, areDays) ?? [],
      }
    })
  }

  /** Each group: its values, by column of the plan, and its lines. */
  *groups(): Generator<{ values: CountValue[]; count: number }> {
    const { columns } = this
    for (const [group, count] of this.lines.entries())
      yield { values: columns.map(({ codes, value }) => value(codes[group] ?? NO_CODE)), count }
  }
}

/**
 * The lines of each country. The key is the code, or the name without a code, or '' without both.
 *
 * @param totals groups by the columns of {@link COUNTRY}; `undefined` if no input has lines
 */
export function countriesOf(totals: GroupTotals | undefined): Map<string, CountryCount> {
  const countries = new Map<string, CountryCount>()
  for (const { values, count } of totals?.groups() ?? []) {
    const [code = null, name = null] = values.map((value) => (value === null ? null : String(value)))
    const key = code ?? name ?? ''
    const before = countries.get(key) ?? { code, name, count: 0 }
    countries.set(key, { ...before, count: before.count + count })
  }
  return countries
}
