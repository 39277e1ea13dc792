import { describe, expect, it } from 'vitest'
import type { ReportedDatabase } from '../../../../src/cli/enrich/report/facts.ts'
import { embedded, Resolver } from '../../../../src/index.ts'
import { attribute, type Element, Page, tallyOf, textOf } from './sample.ts'

const TALLY = tallyOf([{ country: 'NL', count: 1 }])

function pageOf(...databases: ReportedDatabase[]): Page {
  return Page.of(TALLY, { databases })
}

function database(attribution: string | null): ReportedDatabase {
  return { type: 'Some-City', buildDate: new Date('2026-06-05T13:43:16Z'), licence: 'CC BY 4.0', attribution }
}

function links(page: Page): string[] {
  return page.all('a').map((link: Element) => `${textOf(link)} -> ${attribute(link, 'href') ?? ''}`)
}

describe('the databases of a report', () => {
  it('are named with date and licence', () => {
    const page = pageOf(database(null), { type: 'Other', buildDate: null, licence: null, attribution: null })
    expect(page.texts('div', 'source')).toEqual([
      'Some-Citybuilt 5 Jun 2026, licence CC BY 4.0',
      'Otherbuild date not known, licence not known: see its vendor',
    ])
  })

  it('bring the link back that the licence of the embedded data asks for', async () => {
    const resolver = await Resolver.open(embedded.country)
    const page = pageOf(...resolver.databases)
    expect(links(page)).toContain('IP Geolocation by DB-IP -> https://db-ip.com')
    expect(links(page)).toContain(
      'https://creativecommons.org/licenses/by/4.0/ -> https://creativecommons.org/licenses/by/4.0/',
    )
    const shown = page.texts('p', 'attribution')[0] ?? ''
    const said = resolver.databases[0]?.attribution ?? ''
    // Word for word, but that its link is one.
    expect(shown).toBe(
      said
        .replace(/<a href='[^']*'>([^<]*)<\/a>/, '$1')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    expect(said).not.toBe(shown)
  })

  it.each([
    [
      'by Us, https://example.com/a?b=1&c=2.',
      ['https://example.com/a?b=1&c=2 -> https://example.com/a?b=1&c=2'],
    ],
    ['by Us (https://example.com), and so on', ['https://example.com -> https://example.com']],
    ["<a href='https://example.com'>Us & others</a>", ['Us & others -> https://example.com']],
    ['http://example.com ftp://example.com //example.com', []],
    ['javascript:alert(1) data:text/html,x', []],
    ["<a href='javascript:alert(1)'>Us</a>", []],
    ['<a href="https://example.com" onclick="x">Us</a>', ['https://example.com -> https://example.com']],
    ["<a href='https://example.com' onclick='x'>Us</a>", ['https://example.com -> https://example.com']],
  ])('make of %j the links %j', (text, expected) => {
    const page = pageOf(database(text))
    expect(page.errors).toEqual([])
    expect(links(page)).toEqual(expected)
    const names = page.all('a').flatMap(({ attrs }) => attrs.map(({ name }) => name))
    expect([...new Set(names)]).toEqual(expected.length > 0 ? ['href', 'rel'] : [])
  })
})
