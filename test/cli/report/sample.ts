import { type DefaultTreeAdapterTypes, type ParserError, parse } from 'parse5'
import { type ReportDetails, renderReport } from '../../../src/cli/report/report.ts'
import { type Counts, emptyCounts } from '../../../src/enrich/counting/counts.ts'

type Node = DefaultTreeAdapterTypes.Node
export type Element = DefaultTreeAdapterTypes.Element

export const DETAILS: ReportDetails = {
  sources: ['access.log'],
  startedAt: new Date('2026-11-21T14:31:07Z'),
  seconds: 1.25,
  bytes: 163_400_000,
  threads: 2,
  version: '9.8.7',
  databases: [
    {
      type: 'Example-City',
      buildDate: new Date('2026-06-05T13:43:16Z'),
      licence: 'CC BY 4.0',
      attribution: 'IP Geolocation by Example, https://example.com/ip.',
    },
  ],
}

export interface SampleLocation {
  readonly country: string | null
  readonly name?: string | null
  readonly region?: string | null
  readonly city?: string | null
  readonly latitude?: number
  readonly longitude?: number
  readonly hour?: number
  readonly count: number
}

/** The counts of these lines. */
export function countsOf(locations: readonly SampleLocation[]): Counts {
  const counts = emptyCounts()
  for (const {
    country,
    name = null,
    region = null,
    city = null,
    latitude,
    longitude,
    hour,
    count,
  } of locations) {
    counts.lines += count
    counts.resolved += count
    const key = country ?? name ?? ''
    const known = counts.countries.get(key)
    if (known === undefined) counts.countries.set(key, { code: country, name, count })
    else known.count += count
    if (region !== null) counts.regions.set(`${key} ${region}`, { country, code: null, name: region, count })
    if (city !== null) {
      counts.cities.set(`${key} ${region} ${city}`, {
        country,
        region,
        name: city,
        latitudes: (latitude ?? 0) * count,
        longitudes: (longitude ?? 0) * count,
        located: latitude === undefined ? 0 : count,
        count,
      })
    }
    if (latitude !== undefined && longitude !== undefined) {
      counts.cells.set(`${Math.floor(latitude)},${Math.floor(longitude)}`, {
        latitudes: latitude * count,
        longitudes: longitude * count,
        count,
      })
    }
    if (hour !== undefined) {
      counts.hours[hour] = (counts.hours[hour] ?? 0) + count
      counts.firstInstant = Date.UTC(2026, 2, 3, 10)
      counts.lastInstant = Date.UTC(2026, 2, 5, 9)
    }
  }
  return counts
}

/** A page as a browser parses it. */
export class Page {
  readonly errors: ParserError[] = []
  readonly elements: Element[] = []

  constructor(readonly source: string) {
    const document = parse(source, { onParseError: (error) => this.errors.push(error) })
    this.#collect(document)
  }

  static of(counts: Counts, details: Partial<ReportDetails> = {}): Page {
    return new Page(renderReport(counts, { ...DETAILS, ...details }))
  }

  #collect(node: Node): void {
    if ('tagName' in node) this.elements.push(node)
    if ('childNodes' in node) for (const child of node.childNodes) this.#collect(child)
  }

  all(tagName: string, className?: string): Element[] {
    return this.elements.filter(
      (element) =>
        element.tagName === tagName &&
        (className === undefined || (attribute(element, 'class') ?? '').split(' ').includes(className)),
    )
  }

  /** Texts of elements, with single spaces. */
  texts(tagName: string, className?: string): string[] {
    return this.all(tagName, className).map(textOf)
  }

  /** The card with this heading. Throws if there is none. */
  card(heading: string): Element {
    const card = this.all('section').find((section) => within(section, 'h2').map(textOf).includes(heading))
    if (card === undefined) throw new Error(`no card ${heading}`)
    return card
  }
}

export function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((each) => each.name === name)?.value
}

export function textOf(node: Node): string {
  return rawText(node).replace(/\s+/g, ' ').trim()
}

/** The element and its descendants with this name. */
export function within(node: Node, tagName: string): Element[] {
  const found = 'tagName' in node && node.tagName === tagName ? [node] : []
  const children = 'childNodes' in node ? node.childNodes.flatMap((child) => within(child, tagName)) : []
  return [...found, ...children]
}

function rawText(node: Node): string {
  if (node.nodeName === '#text' && 'value' in node) return node.value
  return 'childNodes' in node ? node.childNodes.map(rawText).join('') : ''
}
