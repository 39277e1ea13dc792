import { describe, expect, it } from 'vitest'
import { hasLoneCarriageReturns } from '../../src/enrich/lone-carriage-returns.ts'
import { utf8 } from './in-memory-run.ts'

const LOG = '8.8.8.8 - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 12 "-" "curl/8.5.0"'

describe('hasLoneCarriageReturns', () => {
  it.each([
    ['CSV', 'ip,a\r8.8.8.8,1\r'],
    ['CSV with a mark', '\ufeffip,a\r8.8.8.8,1\r'],
    ['CSV with a line feed in quotes', 'ip,a\r8.8.8.8,"1\n2"\r'],
    ['CSV with a header in quotes', '"ip","a"\r8.8.8.8,1'],
    ['CSV after empty lines', '\r\rip,a\r8.8.8.8,1\r'],
    ['CSV with empty lines', 'ip,a\r\r8.8.8.8,1\r\r'],
    ['CSV that an editor ended', 'ip,a\r8.8.8.8,1\r\n'],
    ['TSV', 'ip\ta\r8.8.8.8\t1\r'],
    ['NDJSON', '{"ip":"8.8.8.8"}\r{"ip":"8.8.8.8"}\r'],
    ['NDJSON with an odd quote', '{"ip":"8.8.8.8","a":"\\""}\r{"ip":"8.8.8.8"}\r'],
    ['a log', `${LOG}\r${LOG}\r`],
    ['addresses', '8.8.8.8\r9.9.9.9'],
  ])('finds lines that end with a carriage return alone: %s (trial fault 8)', (_, text) => {
    expect(hasLoneCarriageReturns(utf8(text))).toBe(true)
  })

  it.each([
    ['nothing', ''],
    ['one line without a line feed', '8.8.8.8\r'],
    ['lines as Windows ends them', 'ip,a\r\n8.8.8.8,1\r\n'],
    ['the same, cut between two bytes', 'ip,a\r'],
    ['lines whose ends were translated twice', 'ip,a\r\r\n8.8.8.8,1\r\r\n'],
    ['in a field', 'ip,"a\rb"\n8.8.8.8,"c\rd\re"\n'],
    ['between members', '{"a":1,\r"ip":"8.8.8.8"}'],
    ['the progress of a download at the start of a list', '1%\r2%\n8.8.8.8\n8.8.8.8\n'],
    ['later only', 'ip,a\n8.8.8.8,1\r2\r3\r4\n'],
  ])('knows those that are something else: %s', (_, text) => {
    expect(hasLoneCarriageReturns(utf8(text))).toBe(false)
  })
})
