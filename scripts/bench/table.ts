import { type Figure, isMet, type Row } from './row.ts'

const HEADINGS = ['what', 'Geofix', 'beside', 'its figure', 'ratio', 'target', 'met']

/** Rows as a Markdown table: medians, with the lowest and the highest round in brackets. */
export function markdownTable(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.what,
    figureText(row.figure),
    row.peer?.name ?? '',
    row.peer === null ? '' : figureText(row.peer.figure),
    row.ratio === null ? '' : numberText(row.ratio),
    targetText(row),
    metText(row),
  ])
  const lines = [HEADINGS, HEADINGS.map(() => '---'), ...cells]
  return lines.map((line) => `| ${line.join(' | ')} |`).join('\n')
}

function figureText({ median, lowest, highest, unit, rounds }: Figure): string {
  const [scale, shown] = unit !== 'a second' ? [1, unit] : median >= 1e6 ? [1e6, 'M/s'] : [1e3, 'k/s']
  const [middle, low, high] = [median, lowest, highest].map((value) => numberText(value / scale))
  return `${middle} ${shown}${rounds.length > 1 ? ` (${low} to ${high})` : ''}`
}

function targetText({ target, ratio, figure }: Row): string {
  if (target === null) return ''
  return `${target.kind} ${target.value}${ratio === null ? ` ${figure.unit}` : ''}`
}

function metText(row: Row): string {
  const met = isMet(row)
  return met === null ? '' : met ? 'yes' : 'no'
}

/** Three digits that count, as far as there are any behind the point. */
function numberText(value: number): string {
  const size = Math.abs(value)
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2)
}
