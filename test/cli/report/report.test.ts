import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ReportCounts } from '../../../src/cli/report/places.ts'
import type { ReportedDatabase } from '../../../src/cli/report/report.ts'
import { embedded, Resolver } from '../../../src/index.ts'
import { anyCharacter } from '../../any-character.ts'
import { attribute, countsOf, type Element, Page, type SampleLocation, textOf } from './sample.ts'

/** Texts that have broken web pages. */
const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</title></style></svg><script src=//evil.example></script>',
  '<!-- ',
  ']]>',
  '&lt;b&gt;&amp;&#60;',
  '{{7*7}}`',
  '\u0000\u0001\u007f\u0085\ufdd0\uffff\u{1fffe}',
  '\ud800 half',
  '\u202egnp.exe',
  'javascript:alert(1)',
]

const LONDON = { region: 'England', city: 'London', latitude: 51.5, longitude: -0.1, hour: 9 }
const CHIYODA = { region: 'Tokyo', city: 'Chiyoda', latitude: 35.7, longitude: 139.8, hour: 20 }
const ORDINARY = countsOf([
  { country: 'GB', name: 'United Kingdom', ...LONDON, count: 60 },
  { country: 'JP', name: 'Japan', ...CHIYODA, count: 30 },
  { country: 'US', name: 'United States', count: 10 },
])

/** A report with this text everywhere that text from a file or a user can appear. */
function pageWith(text: string): Page {
  const counts = countsOf([
    { country: text, name: text, region: text, city: text, latitude: 1, longitude: 2, hour: 3, count: 2 },
  ])
  counts.lines += 1
  counts.bad = 1
  counts.badLineGroups = [{ line: 1, message: text, text, count: 2 }]
  return Page.of(counts, {
    sources: [text, text, '-'],
    title: text,
    version: text,
    databases: [{ type: text, buildDate: null, licence: text, attribution: text }],
  })
}

/** The names of elements and attributes in order, which no text may change. */
function shapeOf(page: Page): string {
  return page.elements
    .filter(({ tagName }) => tagName !== 'a')
    .map(({ tagName, attrs }) => `${tagName} ${attrs.map(({ name }) => name).join(' ')}`)
    .join('\n')
}

function countries(count: number): SampleLocation[] {
  return Array.from({ length: count }, (_, index) => ({
    country: String.fromCharCode(65 + Math.floor(index / 26), 65 + (index % 26)),
    name: `Country ${index}`,
    region: `Region ${index}`,
    city: `City ${index}`,
    latitude: ((index * 37) % 170) - 84.5,
    longitude: ((index * 61) % 360) - 179.5,
    hour: index % 24,
    count: 1 + index,
  }))
}

const allFailed: ReportCounts = {
  ...countsOf([]),
  lines: 10,
  failed: { private: 6, missing: 1 },
  bad: 3,
  badLineGroups: [{ line: 2, message: 'no JSON object', text: null, count: 1 }],
}

/** Results of runs. */
const CASES: readonly (readonly [name: string, counts: ReportCounts])[] = [
  ['ordinary traffic', ORDINARY],
  ['no lines', countsOf([])],
  ['blank lines only', { ...countsOf([]), lines: 3, blank: 3 }],
  ['all failed', allFailed],
  [
    'one line',
    countsOf([{ country: 'NL', name: 'Netherlands', latitude: 52.4, longitude: 4.9, hour: 0, count: 1 }]),
  ],
  ['a country without a code', countsOf([{ country: null, name: 'Atlantis', count: 1 }])],
  ['locations without a country', countsOf([{ country: null, latitude: 0, longitude: 0, count: 5 }])],
  ['250 countries', countsOf(countries(250))],
  ['a count beyond 32 bits', countsOf([{ country: 'US', name: 'United States', hour: 5, count: 2 ** 40 }])],
]

describe('a report', () => {
  it.each(CASES)('of %s is well-formed, and loads and runs nothing', (_, counts) => {
    const page = Page.of(counts)
    expect(page.errors).toEqual([])
    expect(page.all('h1')).toHaveLength(1)
    expect(page.texts('h1')).toEqual(['access.log'])
    expect(page.source).not.toMatch(/NaN|undefined|Infinity|\[object/)
    expect(page.texts('footer')[0]).toContain('21 Nov 2026, 14:31 UTC by Geofix 9.8.7')
    const loading = 'script link img image iframe object embed base form video audio'.split(' ')
    expect(page.elements.filter(({ tagName }) => loading.includes(tagName))).toEqual([])
    const names = page.elements.flatMap(({ attrs }) => attrs.map(({ name }) => name))
    expect(
      names.filter((name) => /^on|^(src|srcset|style|action|data|xlink:href|background|poster)$/.test(name)),
    ).toEqual([])
    const withLinks = page.elements.filter((element) => attribute(element, 'href') !== undefined)
    // The insets use the countries of the map again.
    expect(withLinks.filter(({ tagName }) => tagName !== 'a' && tagName !== 'use')).toEqual([])
    const uses = page.all('use').map((use) => attribute(use, 'href'))
    expect(uses.filter((href) => href !== '#countries')).toEqual([])
    expect(page.texts('style').join()).not.toMatch(/url\(|@import|https?:/)
  })

  it('has a policy that forbids everything except its own style sheet', () => {
    const page = Page.of(ORDINARY)
    const metas = page.all('meta')
    const policy = metas.find((meta) => attribute(meta, 'http-equiv') === 'Content-Security-Policy')
    const [style] = page.all('style')
    const [sheet] = style?.childNodes ?? []
    const text = sheet !== undefined && 'value' in sheet ? sheet.value : ''
    const digest = createHash('sha256').update(text).digest('base64')
    expect(text.length).toBeGreaterThan(1000)
    expect(policy && attribute(policy, 'content')).toBe(
      `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`,
    )
    // A policy applies to what comes after it.
    expect(page.source.indexOf('Content-Security-Policy')).toBeLessThan(page.source.indexOf('<style'))
  })

  it('has the same elements for any names and hostile texts, which it shows as text', () => {
    const plain = shapeOf(pageWith('plain'))
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, minLength: 1, maxLength: 40 }), (text) => {
        fc.pre(text !== '-')
        const page = pageWith(text)
        expect(page.errors).toEqual([])
        expect(shapeOf(page)).toBe(plain)
      }),
      { numRuns: 40 + HOSTILE.length, examples: HOSTILE.map((text) => [text]) },
    )
  })

  it('shows names of any script in full', () => {
    const page = pageWith('北京市 & دبي <1>')
    expect(page.texts('h1')).toEqual(['北京市 & دبي <1>'])
    expect(page.texts('bdi').filter((text) => text === '北京市 & دبي <1>').length).toBeGreaterThan(6)
  })

  it('says that an empty input is empty, without charts', () => {
    const page = Page.of(countsOf([]), { sources: [] })
    expect(page.texts('h1')).toEqual(['Standard input'])
    expect(page.texts('p', 'lead')).toEqual(['The input had no lines.'])
    expect(page.all('svg').filter((svg) => attribute(svg, 'class') !== 'globe')).toEqual([])
    expect(page.texts('h2')).toEqual(['The database'])
  })

  it('lists the reasons if nothing was located', () => {
    const page = Page.of(allFailed)
    expect(page.texts('p', 'lead')).toEqual([
      'None of the 10 lines could be located. Of 60.0% the reason is: Private network (such as 10.0.0.0/8, 192.168.0.0/16, fc00::/7).',
    ])
    expect(page.texts('h2')).toEqual(['Outcome of the lines', 'The database'])
  })

  it.each([
    [
      ORDINARY,
      '100% of 100 lines could be located, in 3 countries. The most frequent is United Kingdom, with 60.0% of the located lines.',
    ],
    [
      countsOf([{ country: 'NL', name: 'Netherlands', count: 1 }]),
      '100% of 1 line could be located, all in one country: Netherlands.',
    ],
    [countsOf([{ country: null, count: 4 }]), '100% of 4 lines could be located.'],
    [{ ...countsOf([]), lines: 2, blank: 2 }, 'All lines are blank: 2 lines.'],
    // Blank lines do not count as failures.
    [
      { ...countsOf([{ country: 'NL', count: 1 }]), lines: 10, blank: 8, bad: 1 },
      '50.0% of 2 lines could be located, all in one country: NL.',
    ],
  ])('starts with the result in words', (counts, words) => {
    expect(Page.of(counts).texts('p', 'lead')[0]).toBe(words)
  })

  it('has the key figures', () => {
    const counts = { ...ORDINARY, lines: 125, failed: { private: 20 }, bad: 5 }
    const tiles = Page.of(counts)
      .all('div', 'tile')
      .map(textOf)
      .map((text) => text.replace(/ – /, '–'))
    expect(tiles).toEqual([
      'Lines125163 MB',
      'Located80.0%100 lines',
      'Addresses0distinct: lines are not visitors',
      'Not located20and 5 unreadable',
      'Countries32 regions, 2 cities',
      'Time3 days3–5 Mar 2026, UTC',
    ])
  })

  it.each([
    [0, 'under a minute'],
    [1, '1 minute'],
    [89, '89 minutes'],
    [34.6 * 60, '35 hours'],
    [72 * 60, '4 days'],
  ])('has the time between the first and the last line: %d minutes are %s', (minutes, text) => {
    const counts = { ...countsOf([]), lines: 1, span: [0, minutes * 60_000] as const }
    expect(Page.of(counts).texts('span', 'value')).toContain(text)
  })

  it('names several inputs, standard input among them', () => {
    const page = Page.of(ORDINARY, { sources: ['-', 'b.log', 'c.log'] })
    expect(page.texts('h1')).toEqual(['3 inputs'])
    expect(page.texts('details')[0]).toBe('3 inputsStandard inputb.logc.log')
  })

  it('works without databases, sizes and a valid date', () => {
    const page = Page.of(ORDINARY, {
      databases: [],
      startedAt: new Date(Number.NaN),
      bytes: null,
      seconds: 0,
    })
    expect(page.errors).toEqual([])
    expect(page.texts('h2')).not.toContain('The database')
    expect(page.texts('footer')[0]).toMatch(/^Generated by Geofix/)
  })
})

const LOCATED = countsOf([{ country: 'NL', count: 1 }])

function pageOf(...databases: ReportedDatabase[]): Page {
  return Page.of(LOCATED, { databases })
}

function database(attribution: string | null): ReportedDatabase {
  return { type: 'Some-City', buildDate: new Date('2026-06-05T13:43:16Z'), licence: 'CC BY 4.0', attribution }
}

function links(page: Page): string[] {
  return page.all('a').map((link: Element) => `${textOf(link)} -> ${attribute(link, 'href') ?? ''}`)
}

describe('the databases of a report', () => {
  it('are listed with build date and licence', () => {
    const page = pageOf(database(null), { type: 'Other', buildDate: null, licence: null, attribution: null })
    expect(page.texts('div', 'source')).toEqual([
      'Some-Citybuilt 5 Jun 2026, licence CC BY 4.0',
      'Otherbuild date unknown, licence unknown: ask the vendor',
    ])
  })

  it('have the link that the licence of the embedded data requires', async () => {
    const resolver = await Resolver.open(embedded.country)
    const page = pageOf(...resolver.databases)
    expect(links(page)).toContain('IP Geolocation by DB-IP -> https://db-ip.com')
    expect(links(page)).toContain(
      'https://creativecommons.org/licenses/by/4.0/ -> https://creativecommons.org/licenses/by/4.0/',
    )
    const shown = page.texts('p', 'attribution')[0] ?? ''
    const attribution = resolver.databases[0]?.attribution ?? ''
    // Word for word, except that the anchor became a link.
    expect(shown).toBe(
      attribution
        .replace(/<a href='[^']*'>([^<]*)<\/a>/, '$1')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    expect(attribution).not.toBe(shown)
  })

  const US = 'https://example.com'
  it.each([
    [`by Us, ${US}/a?b=1&c=2.`, [`${US}/a?b=1&c=2 -> ${US}/a?b=1&c=2`]],
    [`by Us (${US}), and so on`, [`${US} -> ${US}`]],
    [`<a href='${US}'>Us & others</a>`, [`Us & others -> ${US}`]],
    ['http://example.com ftp://example.com //example.com', []],
    ['javascript:alert(1) data:text/html,x', []],
    ["<a href='javascript:alert(1)'>Us</a>", []],
    ['<a href="https://example.com" onclick="x">Us</a>', ['https://example.com -> https://example.com']],
    ["<a href='https://example.com' onclick='x'>Us</a>", ['https://example.com -> https://example.com']],
  ])('turn %j into the links %j', (text, expected) => {
    const page = pageOf(database(text))
    expect(page.errors).toEqual([])
    // The links that a licence requires, without their scheme, and again in the whole text, which a reader opens.
    const short = expected.map((link) => link.replace(/^https:\/\//, ''))
    expect(links(page)).toEqual([...short, ...expected])
    const names = page.all('a').flatMap(({ attrs }) => attrs.map(({ name }) => name))
    expect([...new Set(names)]).toEqual(expected.length > 0 ? ['href', 'rel'] : [])
  })
})
