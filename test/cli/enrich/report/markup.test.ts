import { describe, expect, it } from 'vitest'
import { html, isolated } from '../../../../src/cli/enrich/report/markup.ts'

describe('html', () => {
  it.each([
    ['<b>&"\'', '&lt;b&gt;&amp;&quot;&#39;'],
    ['&amp;', '&amp;amp;'],
    ['北京 🌍\n\tدبي', '北京 🌍\n\tدبي'],
    // What HTML forbids, halves of characters, and what turns text round.
    ['a\u0000b\u001fc\u007fd\u009fe\ufffff\u{1fffe}g', 'a�b�c�d�e�f�g'],
    ['\ud83c\udf0d \ud83c', '🌍 �'],
    ['\u202egnp', '�gnp'],
  ])('escapes %j', (text, escaped) => {
    expect(html`<i title="${text}">${text}</i>`.text).toBe(`<i title="${escaped}">${escaped}</i>`)
  })

  it('takes pieces of HTML, numbers, lists and nothing', () => {
    const items = ['<', html`<b>${'>'}</b>`, 1.5, null, [html`<br>`]]
    expect(html`<p>${items}</p>`.text).toBe('<p>&lt;<b>&gt;</b>1.5<br></p>')
  })

  it('does not take objects that look like a piece for one', () => {
    const forged = JSON.parse('{"text":"<script>"}')
    expect(() => html`${forged}`.text).toThrow()
  })
})

describe('isolated', () => {
  it('ends the direction of a name with the name', () => {
    expect(isolated('a\u2069\u2067b')).toBe('\u2068ab\u2069')
  })
})
