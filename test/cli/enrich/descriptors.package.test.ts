// Descriptors that are closed when the process starts, which Node opens as /dev/null or uses for itself.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../package/project.ts'
import { makeFile } from '../../temporary.ts'
import { ndjson, workspace } from './command-line.ts'

const { folder, DB } = workspace()
const LINES = makeFile(join(folder, 'lines.ndjson'), ndjson(3))

const ENRICH = `"${process.execPath}" "${join(ROOT, 'dist/cli.cjs')}" enrich --db "${DB}" --quiet`
const ROWS = `${ENRICH} --rows --format ndjson --field ip --at 2026-07-01`

/** Runs a command with a closed standard descriptor. Standard error goes to a file, if it is open. */
function shell(command: string): { status: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8', timeout: 250_000 })
  return { status, out: stdout, err: stderr }
}

describe('a descriptor that is closed', () => {
  const output = [
    ['as standard output', `${ENRICH} "${LINES}" >&-`, 'standard output'],
    ['as standard output of rows', `${ROWS} < "${LINES}" >&-`, 'standard output'],
    ['as -o /dev/stdout', `${ENRICH} "${LINES}" -o /dev/stdout >&-`, '/dev/stdout'],
    ['as -o /dev/fd/1', `${ENRICH} "${LINES}" -o /dev/fd/1 >&-`, '/dev/fd/1'],
    ['for the report', `${ENRICH} "${LINES}" -o "${folder}/o" --summary html=/dev/stdout >&-`, '/dev/stdout'],
  ]
  it.each(output)('%s ends with 3', (_, command, name) => {
    const { status, err } = shell(command)
    expect(err).toContain(
      `${name} cannot be written: it is closed, or /dev/null that is open for reading and`,
    )
    expect(status).toBe(3)
  })

  it('as standard error, where the lines go, ends with 3', () => {
    expect(shell(`${ENRICH} "${LINES}" -o /dev/stderr 2>&-`).status).toBe(3)
  })

  it.each([3, 4, 5, 6, 7, 8, 9, 12, 17, 18, 19].map((fd) => [fd]))(
    'as -o /dev/fd/%s, which Node may use, ends with 3',
    (fd) => {
      const { status, err } = shell(`${ENRICH} "${LINES}" -o /dev/fd/${fd}`)
      expect(err).toContain(`/dev/fd/${fd} cannot be written: the descriptor is not open`)
      expect(status).toBe(3)
    },
  )

  it.each([
    ['standard input', `${ENRICH} <&-`],
    ['standard input', `${ROWS} <&-`],
    ['/dev/stdin', `${ENRICH} /dev/stdin <&-`],
    ['/dev/fd/4', `${ENRICH} /dev/fd/4`],
    ['/dev/fd/9', `${ENRICH} /dev/fd/9`],
  ])('as an input, %s, ends with 4', (name, command) => {
    const { status, err } = shell(command)
    expect(err).toContain(`${name} cannot be read: `)
    expect(err).toMatch(/it is closed, or|the descriptor is not open/)
    expect(status).toBe(4)
  })

  it('does not matter if nothing is written to it or read from it', () => {
    const file = join(folder, 'out')
    expect(shell(`${ENRICH} "${LINES}" -o "${file}" <&- >&- 2>&-`).status).toBe(0)
    expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(3)
  })

  it.each([
    ['> /dev/null', `${ENRICH} "${LINES}" > /dev/null`],
    ['-o /dev/null', `${ENRICH} "${LINES}" -o /dev/null`],
    ['< /dev/null', `${ENRICH} < /dev/null`],
    ['a descriptor of the shell', `${ENRICH} "${LINES}" -o /dev/fd/7 7> "${join(folder, 'seven')}"`],
    ['an input of the shell', `${ENRICH} /dev/fd/7 7< "${LINES}"`],
    ['a pipe of the shell', `cat "${LINES}" | ${ENRICH} /dev/fd/7 7<&0`],
  ])('is not confused with %s', (_, command) => {
    expect(shell(command)).toMatchObject({ status: 0, err: '' })
  })
})
