import { LineShape } from './line-shape.ts'
import type { MemberPath } from './member-path.ts'

/** Longer lines are no models. Bytes. */
const MAX_LINE = 16_384
/** Shapes kept, the last one that fitted first. */
const MAX_SHAPES = 8
/** Lines after which it is asked whether remembering pays. */
const ROUND = 256
/** Lines that are left to the scanner where it does not. */
const REST = 4096

/** The shapes of the last lines. Where lines are too different it stops trying for a while. */
export class ShapeMemory {
  readonly #paths: readonly MemberPath[]
  readonly #shapes: LineShape[] = []
  #tries = 0
  #hits = 0
  #rest = 0

  /** @param paths that are looked for; they hold what they lead to when a line was known */
  constructor(paths: readonly MemberPath[]) {
    this.#paths = paths
  }

  /** @returns the shape of a line, or `null` when only a scanner can say more */
  find(bytes: Uint8Array, view: DataView, start: number, end: number): LineShape | null {
    if (this.#rest > 0) {
      this.#rest--
      return null
    }
    if (++this.#tries === ROUND) this.#judge()
    const shapes = this.#shapes
    for (let index = 0; index < shapes.length; index++) {
      const shape = shapes[index]
      if (shape?.match(bytes, view, start, end) !== true) continue
      this.#hits++
      if (index > 0) {
        shapes.splice(index, 1)
        shapes.unshift(shape)
      }
      return shape
    }
    return null
  }

  /** Learns from a line that a scanner has read. */
  learn(bytes: Uint8Array, start: number, end: number, brace: number): void {
    if (this.#rest > 0 || end - start > MAX_LINE || !LineShape.fits(bytes, this.#paths)) return
    if (this.#shapes.length === MAX_SHAPES) this.#shapes.pop()
    this.#shapes.unshift(new LineShape(bytes, start, end, brace, this.#paths))
  }

  #judge(): void {
    if (this.#hits * 2 < this.#tries) this.#rest = REST
    this.#tries = 0
    this.#hits = 0
  }
}
