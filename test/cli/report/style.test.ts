import { describe, expect, it } from 'vitest'
import { STYLE } from '../../../src/cli/report/style.ts'

type Scheme = Readonly<Record<string, string>>

/** The colours in the block that starts with this text. */
function coloursIn(start: string): Scheme {
  const from = STYLE.indexOf(start)
  const block = STYLE.slice(from, STYLE.indexOf('}', from))
  return Object.fromEntries(
    [...block.matchAll(/--([\w-]+): (#[0-9a-f]{6})/g)].map(([, name, colour]) => [name, colour]),
  )
}

/** WCAG 2.2, relative luminance. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((channel) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one: string | undefined, other: string | undefined): number {
  const [dark = Number.NaN, light = Number.NaN] = [one, other]
    .map((colour) => luminance(colour ?? ''))
    .sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

const light = coloursIn(':root {')
const dark = { ...light, ...coloursIn('@media screen and (prefers-color-scheme: dark)') }

describe.each([
  ['light', light],
  ['dark', dark],
])('the %s colours', (_, scheme) => {
  it.each([
    [4.5, 'text', 'ink/page ink/card soft/page soft/card accent/card ink/track soft/track'],
    [3, 'graphics', 'accent/track failed/card bad/card c0/card c1/card c2/card c3/card c4/card'],
    [3, 'points', 'dot-edge/card dot-edge/land dot-edge/shade3'],
  ])('have a contrast of at least %d : 1 for %s: %s', (least, _, pairs) => {
    for (const pair of pairs.split(' ')) {
      const [above = '', below = ''] = pair.split('/')
      expect(contrast(scheme[above], scheme[below]), pair).toBeGreaterThanOrEqual(least)
    }
  })

  const shades = ['land', 'shade3', 'shade2', 'shade1', 'shade0']

  it('of the map grow with the lines', () => {
    const steps = shades.map((name) => contrast(scheme[name], scheme.card))
    expect(steps).toEqual(steps.toSorted((a, b) => a - b))
    expect(new Set(steps).size).toBe(steps.length)
  })

  it('of the map leave names legible', () => {
    for (const shade of shades) expect(contrast(scheme.ink, scheme[shade])).toBeGreaterThanOrEqual(4.5)
  })
})

describe('the style sheet', () => {
  it('uses every named colour, and only these', () => {
    const used = [...STYLE.matchAll(/var\(--([\w-]+)\)/g)].map(([, name]) => name ?? '')
    const named = [...STYLE.matchAll(/--([\w-]+):/g)].map(([, name]) => name ?? '')
    expect([...new Set(used)].filter((name) => !named.includes(name))).toEqual([])
    expect([...new Set(named)].filter((name) => !used.includes(name))).toEqual([])
  })

  it('contains nothing that could close its element', () => {
    expect(STYLE).not.toMatch(/<|-->/)
  })
})
