// Signals end the built commands that make a database of another one.
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../package/project.ts'
import { makeFile, temporaryFolder } from '../temporary.ts'
import { outcomeOf, start } from './enrich/child.ts'

const folder = temporaryFolder()
const CSV = makeFile(join(folder, 'networks.csv'), 'network,country_code\n10.0.0.0/8,DE\n')
const COUNTRY = join(ROOT, 'data/country.mmdb.gz')

describe('no temporary file is left', () => {
  it.each([
    ['unpack', [join(ROOT, 'data/asn.mmdb.packed')], 'SIGINT', 130, 'as soon as it writes'],
    ['pack', [COUNTRY], 'SIGTERM', 143, 'while it converts'],
    ['slim', [COUNTRY, '--fields', 'country'], 'SIGHUP', 129, 'as soon as it writes'],
    ['overlay', [COUNTRY, '--csv', CSV], 'SIGTERM', 143, 'as soon as it writes'],
  ] as const)('by geofix %s %j after %s (%i), %s', async (command, args, signal, status, when) => {
    const own = join(folder, command)
    mkdirSync(own)
    const child = start([command, ...args, '-o', join(own, 'out.mmdb')])
    const ended = outcomeOf(child)
    if (when === 'while it converts') await delay(400)
    else while (child.exitCode === null && readdirSync(own).length === 0) await delay(1)
    child.kill(signal)
    const outcome = await ended
    // -1 is the end by the signal itself. A run can also be done before the signal.
    expect([0, -1, status]).toContain(outcome.status)
    expect(readdirSync(own)).toEqual(outcome.status === 0 ? ['out.mmdb'] : [])
  })
})
