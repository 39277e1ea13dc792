import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { textCommand } from '../../src/enrich/text-command.ts'
import { run, text } from './world.ts'

const folder = mkdtempSync(join(tmpdir(), 'geofix-text-'))
afterAll(() => rmSync(folder, { recursive: true }))

const LINE = '81.2.69.142 - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 12'

describe('the command for lines that are not read', () => {
  it.each([
    ['Docker Compose', `web-1  | ${LINE}`],
    ['containerd', `2026-07-01T12:00:00.123456789Z stdout F ${LINE}`],
    ['syslog', `Jul  1 12:00:00 web nginx: ${LINE}`],
    ['syslog with a process', `Jul 11 12:00:00 web nginx[12]: ${LINE}`],
    ['words', 'GET 81.2.69.142 /index.html'],
    ['words and tabs', 'a\t81.2.69.142\tb c'],
    ['an address in a word', 'client=81.2.69.142; page=/'],
    ['an address with a port', 'from 81.2.69.142:4711 to /'],
  ])('makes lines that are read of those of %s (second trial 20)', (_, line) => {
    const file = join(folder, 'input.txt')
    writeFileSync(file, `${line}\n${line}\n`)
    const message = textCommand([line, line])
    const [, command = ''] = /: ((?:sed|awk|grep) .*) FILE \| geofix enrich$/.exec(message) ?? []
    const made = execFileSync('sh', ['-c', `${command} ${file}`], { encoding: 'utf8' })
    const { output, counts } = run(made)
    expect(counts).toMatchObject({ lines: 2, resolved: 2 })
    expect(text(output)).toContain('GB')
  })

  it('is none for prose', () => {
    expect(textCommand(['Once upon a time'])).toMatch(/geofix enrich --format list$/)
  })
})

describe('an address with a port', () => {
  it.each([
    ['81.2.69.142:443', 'resolved'],
    ['[2001:4860:4860::8888]:443', 'resolved'],
    ['[2001:4860:4860::8888]', 'resolved'],
    ['81.2.69.142:99999', 'malformed'],
    ['81.2.69.142:', 'malformed'],
    ['unknown', 'malformed'],
  ])('is located: %s is %s (second trial 20)', (ip, expected) => {
    for (const input of [`${JSON.stringify({ ip })}\n`, `n,ip\n1,${ip}\n`]) {
      const { counts } = run(
        `${input}${input.startsWith('{') ? '{"ip":"10.0.0.1"}\n{"ip":"10.0.0.2"}' : '1,10.0.0.1\n2,10.0.0.2'}\n`,
      )
      expect(expected === 'resolved' ? counts.resolved : counts.failed.malformed).toBe(1)
    }
  })
})
