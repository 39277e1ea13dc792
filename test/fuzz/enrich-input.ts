// What the targets of geofix/enrich have in common: inputs of lines, and the run that must not depend on how they
// are cut.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { EnrichError } from '../../src/enrich/errors.ts'
import { type EnrichOptions, makePlan, type Plan } from '../../src/enrich/formats/formats.ts'
import { AT, latin1, PLACED, type Run, runPlan, UNPLACED, worldSet } from '../enrich/world.ts'

/** Plain data. */
export interface EnrichInput {
  readonly bytes: Uint8Array
  readonly options: EnrichOptions
  /** Sizes of the chunks that it comes in, over and over. */
  readonly cuts: readonly number[]
  readonly blockBytes: number
}

export const ips = fc.constantFrom(...PLACED, ...Object.keys(UNPLACED))
export const lineEnd = fc.constantFrom('\n', '\n', '\n', '\r\n', '\r', '\n\n', '\r\r\n')
/** What stands in lines. */
export const ALPHABET = '",;\t\\\n\r {}[]-#\ufeff\0é='
export const piece = fc.constantFrom('""', ...ALPHABET)

const set = worldSet()

/** A text of lines, the last one of which may have no end. */
export function linesOf(
  start: fc.Arbitrary<string>,
  line: fc.Arbitrary<string>,
  maxLength = 8,
): fc.Arbitrary<string> {
  return fc
    .tuple(start, fc.array(fc.tuple(line, lineEnd), { maxLength }), fc.oneof(line, fc.constant('')))
    .map(([mark, lines, last]) => `${mark}${lines.flat().join('')}${last}`)
}

/** An input of these texts, with some bytes changed to what is no UTF-8. */
export function enrichInputs(
  texts: fc.Arbitrary<string>,
  options: fc.Arbitrary<EnrichOptions>,
): fc.Arbitrary<EnrichInput> {
  return fc.record({
    bytes: fc
      .tuple(
        texts,
        fc.array(fc.tuple(fc.nat(0xffff), fc.constantFrom(0xff, 0xc3, 0x80, 0xe2, 0x0a, 0x0d, 0x22)), {
          maxLength: 2,
        }),
      )
      .map(([text, changes]) => {
        const bytes = new TextEncoder().encode(text)
        for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte
        return bytes
      }),
    options: fc
      .tuple(
        options,
        fc.record({ maxLineBytes: fc.constantFrom(4, 20, 100, 1000, 2 ** 20) }, { requiredKeys: [] }),
      )
      .map(([given, common]) => ({ ...given, ...common })),
    cuts: fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 4 }),
    blockBytes: fc.integer({ min: 1, max: 300 }),
  })
}

/**
 * Enriches an input in one piece, and again in chunks: output and counts must be the same, and so must memory be
 * bounded by lines and blocks.
 *
 * @returns `null` when the input does not fit the options
 */
export function enriched({ bytes, options, cuts, blockBytes }: EnrichInput): Omit<Run, 'notes'> | null {
  const plan = planned(bytes, options)
  if (plan === null) return null
  const whole = runPlan(plan, bytes, { set, blockBytes: 2 ** 20 })
  const watch = (held: number): void =>
    assert.ok(held <= plan.maxLineBytes + 2 * blockBytes + 1, `${held} bytes are held back`)
  const parts = runPlan(plan, bytes, { set, cuts, blockBytes, watch })
  const unfused = runPlan(plan, bytes, { set, blockBytes: 2 ** 20, usesLoop: false })
  assert.ok(Buffer.from(whole.output).equals(unfused.output), 'the loop of the format writes something else')
  assert.deepEqual(whole.counts, unfused.counts, 'the loop of the format counts something else')
  assert.ok(Buffer.from(whole.output).equals(parts.output), 'the output depends on how the input is cut')
  assert.deepEqual(parts.counts, whole.counts, 'the counts depend on how the input is cut')
  const { lines, blank, bad, resolved, failed } = whole.counts
  assert.equal(blank + bad + resolved + Object.values(failed).reduce((sum, count) => sum + count, 0), lines)
  return { plan, ...whole }
}

function planned(bytes: Uint8Array, options: EnrichOptions): Plan | null {
  try {
    return makePlan({ bytes, isWhole: true }, { at: AT, ...options }).plan
  } catch (error) {
    assert.ok(error instanceof EnrichError, String(error))
    assert.ok(error.message.length <= 3000, `a message of ${error.message.length} characters`)
    return null
  }
}

/** A line of bytes, and its end. */
export function* physicalLines(bytes: Uint8Array): Generator<readonly [content: string, end: string]> {
  for (const line of latin1(bytes).match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const end = /\r?\n$|\r$/.exec(line)?.[0] ?? ''
    yield [line.slice(0, line.length - end.length), end]
  }
}

/**
 * Takes what was added out of each line of an output that keeps the bytes of its lines.
 *
 * @param isAdded whether a text, which is after `before` in its line, was added
 * @throws Error when anything else is not as it was
 */
export function checkKept(
  input: Uint8Array,
  output: Uint8Array,
  isAdded: (text: string, before: string) => boolean,
  placeOf: (content: string) => number = (content) => content.length,
): void {
  const before = [...physicalLines(input)]
  const after = [...physicalLines(output)]
  assert.equal(after.length, before.length, 'lines have come or gone')
  for (const [index, [content, end]] of before.entries()) {
    const [now = '', endNow] = after[index] ?? []
    assert.equal(endNow, end, 'another line end')
    if (now === content) continue
    const place = placeOf(content)
    const [head, tail] = [content.slice(0, place), content.slice(place)]
    assert.ok(
      now.startsWith(head) && now.endsWith(tail) && now.length > content.length,
      'the line is not kept',
    )
    assert.ok(
      isAdded(now.slice(head.length, now.length - tail.length), head),
      'what was added is something else',
    )
  }
}
