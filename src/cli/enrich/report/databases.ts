import { clipped, NAME_LENGTH } from './clipped.ts'
import type { ReportedDatabase } from './facts.ts'
import { dayText } from './figures.ts'
import { html, type Markup } from './markup.ts'

/** Characters; the embedded databases' have about 800. */
const ATTRIBUTION_LENGTH = 4000

/** The databases, with what their licences ask to be shown beside results. */
export function databaseNotes(databases: readonly ReportedDatabase[]): Markup | null {
  if (databases.length === 0) return null
  return html`<section class="card sources"><header class="head"><h2>${
    databases.length === 1 ? 'The database' : 'The databases'
  }</h2></header>${databases.map(note)}</section>`
}

function note({ type, buildDate, licence, attribution }: ReportedDatabase): Markup {
  const built = buildDate === null ? null : dayText(buildDate)
  const about = [
    built === null ? 'build date not known' : `built ${built}`,
    licence === null ? 'licence not known: see its vendor' : `licence ${clipped(licence, NAME_LENGTH)}`,
  ].join(', ')
  return html`<div class="source"><h3><bdi>${clipped(type, NAME_LENGTH)}</bdi></h3><p>${about}</p>${
    attribution === null
      ? null
      : html`<p class="attribution" dir="auto">${linked(clipped(attribution, ATTRIBUTION_LENGTH))}</p>`
  }</div>`
}

/** An address of a page, or the link that the embedded databases' text asks for. Nothing but https becomes a link. */
const LINK = /<a href='(https:\/\/[^\s'"<>]+)'>([^<>]+)<\/a>|https:\/\/[^\s<>"'()]*[^\s<>"'().,;:]/g

/** A text with its addresses made links. */
function linked(text: string): Markup[] {
  const pieces: Markup[] = []
  let from = 0
  for (const match of text.matchAll(LINK)) {
    const [whole, address = whole, label = whole] = match
    pieces.push(
      html`${text.slice(from, match.index)}<a href="${address}" rel="noopener noreferrer">${label}</a>`,
    )
    from = match.index + whole.length
  }
  return [...pieces, html`${text.slice(from)}`]
}
