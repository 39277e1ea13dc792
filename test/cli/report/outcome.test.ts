import { describe, expect, it } from 'vitest'
import { attribute, countsOf, Page, textOf, within } from './sample.ts'

const TITLE = 'Outcome of the lines'

function rows(page: Page): string[] {
  return within(page.card(TITLE), 'tr')
    .slice(1)
    .map((row) => row.childNodes.map(textOf).join('|'))
}

describe('the outcome of the lines', () => {
  const counts = {
    ...countsOf([{ country: 'NL', count: 70 }]),
    lines: 110,
    blank: 10,
    failed: { private: 5, malformed: 20 },
    bad: 5,
    badLineGroups: [{ line: 1234, message: 'no "JSON" <object>', text: null, count: 1 }],
  }

  it('has reasons, the most frequent first, and shares of all lines that are not blank', () => {
    expect(rows(Page.of(counts))).toEqual([
      'Located|70|70.0%',
      'Not an address the text is not an IP address|20|20.0%',
      'Private network such as 10.0.0.0/8, 192.168.0.0/16, fc00::/7|5|5.0%',
      'Unreadable not a line of this format|5|5.0%',
    ])
    expect(textOf(Page.of(counts).card(TITLE))).toContain('10 blank lines are not counted here.')
  })

  it('is also one full bar', () => {
    const [stack] = Page.of(counts).all('svg', 'stack')
    const parts = stack === undefined ? [] : within(stack, 'rect')
    expect(parts.map((part) => ['class', 'x', 'width'].map((name) => attribute(part, name)))).toEqual([
      ['located', '0%', '70%'],
      ['failed', '70%', '25%'],
      ['bad', '95%', '5%'],
    ])
  })

  it('shows the first unreadable lines by number', () => {
    const page = Page.of(counts)
    expect(page.texts('h3')).toContain('The first unreadable lines')
    expect(within(page.card(TITLE), 'li').map(textOf)).toEqual(['Line 1,234 no "JSON" <object>'])
    expect(Page.of({ ...counts, bad: 1 }).texts('h3')).toContain('Unreadable lines')
  })

  it('groups equal unreadable lines, the largest group first', () => {
    const badLineGroups = [
      { line: 7, message: 'no JSON object', text: '<b>x', count: 1 },
      { line: 9, message: 'no JSON object', text: null, count: 1300 },
    ]
    const items = (bad: number): string[] =>
      within(Page.of({ ...counts, bad, badLineGroups }).card(TITLE), 'li').map(textOf)
    expect(items(1301)).toEqual(['1,300 lines, the first is 9 no JSON object', 'Line 7 no JSON object<b>x'])
    expect(items(1302)[0]).toBe('At least 1,300 lines, the first is 9 no JSON object')
  })
})
