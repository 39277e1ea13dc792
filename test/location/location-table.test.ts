import { describe, expect, it } from 'vitest'
import { Resolver } from '../../src/index.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { heldMemory } from '../heap.ts'

const RECORDS = 6000
/** Without a bound these places would take nearly 80 MB. Bytes. */
const MOST = 50_000_000

const networkOf = (index: number): string => `${20 + (index >>> 8)}.${index & 255}`

/** Texts that the file holds once and points to: a hundred of them for each record cost it little. */
const texts = Array.from({ length: 500 }, (_, index) => `${index} `.padEnd(70, 'long'))
const LETTERS = [...'abcdefghij']
const languages = LETTERS.flatMap((first) => LETTERS.map((second) => first + second))
const nameOf = (index: number, language: number): string =>
  texts[(index * 7 + language * (1 + (index % 13))) % texts.length] ?? ''

describe('the places of a hostile database', () => {
  it('are kept in bounded memory, and are right', () => {
    const writer = new MmdbWriter({ databaseType: 'Greedy', aliases: false })
    for (let index = 0; index < RECORDS; index++) {
      const names = Object.fromEntries(languages.map((tag, at) => [tag, nameOf(index, at)]))
      const country = { iso_code: 'GB', names }
      writer.insert(`${networkOf(index)}.0.0/16`, { country, city: { names: { en: `city ${index}` } } })
    }
    const resolver = Resolver.openSync(writer.toBytes())
    const before = heldMemory()
    for (const round of [1, 2]) {
      for (let index = 0; index < RECORDS; index++) {
        const { city, country } = resolver.lookup(`${networkOf(index)}.0.1`, { locale: languages[1] })
        if (city !== `city ${index}` || country.name !== nameOf(index, 1)) {
          throw new Error(`in round ${round} record ${index} is ${city}, ${country.name}`)
        }
        if (index % 2000 === 1999) expect(heldMemory() - before).toBeLessThan(MOST)
      }
    }
    resolver.close()
  })
})
