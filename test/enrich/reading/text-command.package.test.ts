import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { textCommand } from '../../../src/enrich/reading/text-command.ts'
import { run, text } from '../world.ts'

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
  ])('makes lines that are read of those of %s', (_, line) => {
    const file = join(folder, 'input.txt')
    writeFileSync(file, `${line}\n${line}\n`)
    const message = textCommand([line, line])
    const [, command = ''] = /: ((?:sed|awk|grep) .*) FILE \| geofix enrich$/.exec(message) ?? []
    const made = execFileSync('sh', ['-c', `${command} ${file}`], { encoding: 'utf8' })
    const { output, counts } = run(made)
    expect(counts).toMatchObject({ lines: 2, resolved: 2 })
    expect(text(output)).toContain('GB')
  })

  const hosts = Array.from({ length: 12 }, (_, index) => `${20 + index}.7.${99 + index}.${index + 64}`)
  it.each<[string, (host: string) => string, readonly string[]]>([
    [
      'W3C fields',
      (host) => `12:00:00 81.2.69.1 GET / ${host} 200`,
      ['#Version: 1.0', '#Fields: time s-ip cs-method cs-uri-stem c-ip sc-status'],
    ],
    [
      'W3C fields whose first word has no address',
      (host) => `12:00:00 ${host} GET`,
      ['#Software: Some', '#Fields: time c-ip cs-method'],
    ],
    [
      'Zeek',
      (host) => `1.5\tCx\t${host}\t1000\t81.2.69.1\t443`,
      [
        '#separator \\x09',
        '#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p',
        '#types\ttime\tstring\taddr\tport\taddr\tport',
      ],
    ],
    ['words below a header', (host) => `1 ${host} x`, ['id who what']],
    ['words below a header with a server', (host) => `81.2.69.1 ${host} x`, ['server who what']],
    ['labels', (host) => `[UFW BLOCK] IN=eth0 SRC=${host} DST=81.2.69.1 LEN=40`, []],
  ])('takes the client where lines have more than an address: %s', (_, line, head) => {
    const lines = [...head, ...hosts.map(line)]
    const file = join(folder, 'several.txt')
    writeFileSync(file, `${lines.join('\n')}\n`)
    const message = textCommand(lines)
    const [, command = ''] = /: ((?:sed|awk) .*) FILE \| geofix enrich$/.exec(message) ?? []
    expect(execFileSync('sh', ['-c', `${command} ${file}`], { encoding: 'utf8' }).trim()).toBe(
      hosts.join('\n'),
    )
  })
})
