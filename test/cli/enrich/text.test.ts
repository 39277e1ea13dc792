// What the command adds to the format `text`: the form by the name of the output, and the year by the time of the file.
import { readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeFile } from '../../temporary.ts'
import { workspace } from './command-line.ts'

const { folder, enrich: withDatabase } = workspace()
const LINE = 'Jul  5 09:32:11 web sshd[9]: Failed password for root from 1.2.3.4 port 5 ssh2'
const LOG = makeFile(join(folder, 'auth.log'), `${LINE}\n`)
utimesSync(LOG, new Date('2025-01-02T00:00:00Z'), new Date('2025-01-02T00:00:00Z'))

const enrich = (...args: string[]) => withDatabase([...args])

describe('geofix enrich of text', () => {
  it('adds places without a flag, and says so', async () => {
    const { status, out, err } = await enrich(LOG)
    expect({ status, out }).toEqual({ status: 0, out: `${LINE.replace('1.2.3.4', '1.2.3.4 [AU Sydney]')}\n` })
    expect(err).toContain(`${LOG}: the format is text\n`)
    expect(err).toContain('a place is added to each public address')
    expect(err).not.toContain('no year')
  })

  it.each(['out.ndjson', 'out.jsonl', 'out.NDJSON'])('writes objects to %s', async (name) => {
    const output = join(folder, name)
    expect(await enrich(LOG, '-o', output)).toMatchObject({ status: 0 })
    expect(JSON.parse(readFileSync(output, 'utf8'))).toMatchObject({ raw: LINE, ip: '1.2.3.4' })
  })

  it('writes lines to such a name if they are asked for', async () => {
    const output = join(folder, 'kept.ndjson')
    expect(await enrich(LOG, '-o', output, '--annotate', '{ip}/{country_code}')).toMatchObject({ status: 0 })
    expect(readFileSync(output, 'utf8')).toContain('1.2.3.4/AU port')
  })

  it('takes the year from the file, or from --at, and says so', async () => {
    // Sydney's clocks are changed in April and October, in whatever year.
    const offset = ['--annotate', '{ip} [{timezone_offset}]']
    const ofFile = await enrich(LOG, ...offset)
    expect(ofFile.out).toContain('1.2.3.4 [+10:00] port')
    expect(ofFile.err).toContain('not after 2025-01-02T00:00:00.000Z, when the file was last written')
    const ofAt = await enrich(LOG, ...offset, '--at', '2024-07-06T00:00:00Z')
    expect(ofAt.out).toBe(ofFile.out)
    expect(ofAt.err).toContain('not after 2024-07-06T00:00:00.000Z, the time of --at')
    const piped = await withDatabase([...offset], `${LINE}\n`)
    expect(piped.out).toBe(`${LINE}\n`)
    expect(piped.err).toContain('its times have no year, and are not read')
  })
})
