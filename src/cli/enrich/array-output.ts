import type { Plan } from '../../enrich/formats/formats.ts'
import type { Output } from './output.ts'
import { jsonOf, RowReader, type SizedRow } from './parquet/row-reader.ts'

/**
 * Makes one JSON array of the objects that a run writes, one a line. Objects keep their bytes. A line that is not an object becomes
 * one, with its text in `raw`.
 */
export class ArrayOutput implements Output {
  readonly #target: Output
  readonly #into: string
  #reader: RowReader | null = null
  /** Whether the run writes one document of JSON already. */
  #keepsBytes = false
  #isBegun = false
  #isEnded = false

  /** @param into the name of the member with the location */
  constructor(target: Output, into: string) {
    this.#target = target
    this.#into = into
  }

  /** Call it before the first line of an input. */
  usePlan(plan: Plan, keepsBytes: boolean): void {
    this.#keepsBytes = keepsBytes
    this.#reader ??= new RowReader(plan)
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#keepsBytes) await this.#target.write(bytes)
    else await this.#put(this.#reader?.rows(bytes) ?? [])
  }

  async flush(): Promise<void> {
    if (!this.#isEnded && !this.#keepsBytes) {
      this.#isEnded = true
      await this.#put(this.#reader?.end() ?? [])
      await this.#target.write(Buffer.from(this.#isBegun ? '\n]\n' : '[]\n'))
    }
    await this.#target.flush()
  }

  async finish(): Promise<void> {
    await this.flush()
    await this.#target.finish()
  }

  discard(): void {
    this.#target.discard()
  }

  async #put(rows: Iterable<SizedRow>): Promise<void> {
    const texts = Array.from(
      rows,
      ({ row, object }) => object ?? jsonOf({ ...Object.fromEntries(row), [this.#into]: null }),
    )
    if (texts.length === 0) return
    await this.#target.write(Buffer.from(`${this.#isBegun ? ',' : '['}\n${texts.join(',\n')}`))
    this.#isBegun = true
  }
}
