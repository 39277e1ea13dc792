// Prints what changed between two manifests of the databases, as Markdown: tsx scripts/compare-manifests.ts OLD NEW.

import { readFileSync } from 'node:fs'

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/** What names an item of a list, in place of its position. */
const NAMES = ['file', 'name'] as const

/** All values of a document, by their path. */
function flat(value: Json, path = '', into = new Map<string, string>()): Map<string, string> {
  if (typeof value !== 'object' || value === null) into.set(path, String(value))
  else {
    for (const [key, inner] of Object.entries(value))
      flat(inner, `${path}${path && ' '}${nameOf(inner, key)}`, into)
  }
  return into
}

function nameOf(value: Json, key: string): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return key
  const named = Object.entries(value).find(
    ([name, text]) => NAMES.some((each) => each === name) && typeof text === 'string',
  )
  return named === undefined ? key : String(named[1])
}

function shown(value: string | undefined): string {
  if (value === undefined) return ''
  return value.length > 40 ? `${value.slice(0, 16)}…` : value
}

/** A table of the figures, versions and digests that differ, or a sentence if none does. */
export function comparison(before: Json, after: Json): string {
  const [old, now] = [flat(before), flat(after)]
  const rows = [...new Set([...old.keys(), ...now.keys()])].flatMap((path) => {
    const [from, to] = [old.get(path), now.get(path)]
    if (from === to) return []
    const change = (Number(to) / Number(from) - 1) * 100
    const percent = Number.isFinite(change) ? `${change >= 0 ? '+' : ''}${change.toFixed(1)} %` : ''
    return [`| ${path} | ${shown(from)} | ${shown(to)} | ${percent} |`]
  })
  if (rows.length === 0) return 'The databases are the same.'
  return ['| figure | before | after | change |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

if (process.argv[1] === import.meta.filename) {
  const [before, after] = process.argv.slice(2).map((path): Json => JSON.parse(readFileSync(path, 'utf8')))
  if (before === undefined || after === undefined) {
    console.error('Usage: tsx scripts/compare-manifests.ts OLD NEW')
    process.exitCode = 2
  } else console.log(comparison(before, after))
}
