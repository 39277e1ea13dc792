import { describe, expect, it } from 'vitest'
import { clipped, html, isolated } from '../../../src/cli/report/markup.ts'

describe('html', () => {
  it.each([
    ['<b>&"\'', '&lt;b&gt;&amp;&quot;&#39;'],
    ['&amp;', '&amp;amp;'],
    ['北京 🌍\n\tدبي', '北京 🌍\n\tدبي'],
    // Characters that HTML forbids, lone surrogates, bidirectional overrides.
    ['a\u0000b\u001fc\u007fd\u009fe\ufffff\u{1fffe}g', 'a�b�c�d�e�f�g'],
    ['\ud83c\udf0d \ud83c', '🌍 �'],
    ['\u202egnp', '�gnp'],
  ])('escapes %j', (text, escaped) => {
    expect(html`<i title="${text}">${text}</i>`.text).toBe(`<i title="${escaped}">${escaped}</i>`)
  })

  it('accepts markup, numbers, lists and null', () => {
    const items = ['<', html`<b>${'>'}</b>`, 1.5, null, [html`<br>`]]
    expect(html`<p>${items}</p>`.text).toBe('<p>&lt;<b>&gt;</b>1.5<br></p>')
  })

  it('refuses objects that only look like markup', () => {
    const forged = JSON.parse('{"text":"<script>"}')
    expect(() => html`${forged}`.text).toThrow()
  })
})

describe('isolated', () => {
  it('isolates the writing direction of a name', () => {
    expect(isolated('a\u2069\u2067b')).toBe('\u2068ab\u2069')
  })
})

describe('clipped', () => {
  it.each([
    ['', 3, ''],
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    // Characters of two code units each.
    ['🌍🌍🌍', 3, '🌍🌍🌍'],
    ['🌍🌍🌍🌍', 3, '🌍🌍…'],
    ['🌍🌍🌍a', 3, '🌍🌍…'],
  ])('cuts %j to %d characters: %j', (text, characters, expected) => {
    expect(clipped(text, characters)).toBe(expected)
  })
})
