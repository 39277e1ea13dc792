import { MAX_WORDS } from './choices.ts'

/** Of a whole number below `bound`. */
export type Random = (bound: number) => number

/** Choices that differ from some in a few places, or are made of two. */
export function mutatedChoices(corpus: readonly Int32Array[], random: Random): Int32Array {
  let words = pick(corpus, random)
  for (let edits = 1 + random(4); edits > 0; edits--) words = edited(words, corpus, random)
  return words.subarray(0, MAX_WORDS)
}

function edited(words: Int32Array, corpus: readonly Int32Array[], random: Random): Int32Array {
  const at = random(words.length + 1)
  const [head, tail] = [words.subarray(0, at), words.subarray(at)]
  const size = 1 + random(8)
  switch (random(6)) {
    case 0: // another choice
      return joined(head, Int32Array.of(random(2 ** 32)), tail.subarray(1))
    case 1: // a choice nearby
      return joined(head, Int32Array.of((tail[0] ?? 0) + random(33) - 16), tail.subarray(1))
    case 2: // the rest anew
      return head
    case 3:
      return joined(head, tail.subarray(size))
    case 4:
      return joined(head, tail.subarray(0, size), tail)
    default: {
      const other = pick(corpus, random)
      const from = random(other.length + 1)
      return joined(head, other.subarray(from, from + size * 4), tail.subarray(random(2) * size * 4))
    }
  }
}

function pick(corpus: readonly Int32Array[], random: Random): Int32Array {
  return corpus[random(corpus.length)] ?? new Int32Array(0)
}

function joined(...parts: Int32Array[]): Int32Array {
  return Int32Array.from(parts.flatMap((part) => [...part]))
}
