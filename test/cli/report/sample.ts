import { type DefaultTreeAdapterTypes, type ParserError, parse } from 'parse5'
import { expect } from 'vitest'
import { activityOf } from '../../../src/cli/report/activity.ts'
import { placesOf, type ReportCounts, reportTotals } from '../../../src/cli/report/places.ts'
import { type ReportDetails, renderReport } from '../../../src/cli/report/report.ts'
import { type CountValue, DETAILS, type ReportQuery } from '../../../src/enrich/count-plan.ts'
import { emptyCounts } from '../../../src/enrich/counting/counts.ts'
import type { Times } from '../../../src/enrich/counting/groups.ts'
import { GroupTotals } from '../../../src/enrich/counting/totals.ts'
import { NOTHING_ELSE } from '../../enrich/counted.ts'

type Node = DefaultTreeAdapterTypes.Node
export type Element = DefaultTreeAdapterTypes.Element

export const REPORT_DETAILS: ReportDetails = {
  sources: ['access.log'],
  activity: activityOf({}, { showsAddresses: true, systems: null }),
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
  readonly regionCode?: string
  readonly region?: string | null
  readonly city?: string | null
  readonly latitude?: number
  readonly longitude?: number
  readonly hour?: number
  readonly count: number
}

/** The counts of these lines. */
export function countsOf(locations: readonly SampleLocation[]): ReportCounts {
  const places = locations.map(({ country, name, regionCode, region, city, latitude, longitude }) =>
    [country, name, regionCode, region, city, latitude, longitude].map((value) => value ?? null),
  )
  const counts = locations.map(({ count }) => count)
  const timed = locations.filter(({ hour }) => hour !== undefined)
  const [first, last] = [Date.UTC(2026, 2, 3, 10), Date.UTC(2026, 2, 5, 9)]
  const totals = [
    totalsOf('places', places, counts),
    totalsOf(
      'hours',
      timed.map(({ hour = 0 }) => [0, hour]),
      timed.map(({ count }) => count),
      timed.length === 0 ? undefined : { lines: timed.length, first, last },
    ),
  ]
  const lines = counts.reduce((sum, count) => sum + count, 0)
  return { ...emptyCounts(), lines, resolved: lines, ...placesOf(reportTotals(totals)) }
}

/** Groups of one dimension, one for each of its values. */
function totalsOf(
  name: ReportQuery,
  values: readonly (readonly CountValue[])[],
  counts: readonly number[],
  instants: Times = NOTHING_ELSE.instants,
): GroupTotals {
  const totals = new GroupTotals(DETAILS.find((plan) => plan.name === name) ?? expect.fail(name))
  const groups = Int32Array.from(values.keys())
  totals.add({ ...NOTHING_ELSE, values: [values], groups, counts: Float64Array.from(counts), instants })
  return totals
}

/** A page as a browser parses it. */
export class Page {
  readonly errors: ParserError[] = []
  readonly elements: Element[] = []

  constructor(readonly source: string) {
    const document = parse(source, { onParseError: (error) => this.errors.push(error) })
    this.#collect(document)
  }

  static of(counts: ReportCounts, details: Partial<ReportDetails> = {}): Page {
    return new Page(renderReport(counts, { ...REPORT_DETAILS, ...details }))
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
