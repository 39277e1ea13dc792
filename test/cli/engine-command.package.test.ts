import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pack } from '../../src/writer.ts'
import { british, databaseWith } from '../own-databases.ts'
import { ROOT } from '../package/project.ts'
import { temporaryFolder } from '../temporary.ts'
import { failure, geofix, words } from './enrich/command-line.ts'

const folder = temporaryFolder()
const at = (name: string): string => join(folder, name)

writeFileSync(at('db.mmdb'), british('Own'))
// The real one has 100 MB.
writeFileSync(at('node'), Buffer.concat([Buffer.from([0x7f]), Buffer.from('ELF of a runtime')]))
writeFileSync(at('debian-node'), Buffer.concat([Buffer.from([0x7f]), Buffer.from('ELF libnode.so.108')]))
writeFileSync(at('script'), '#!/bin/sh\n')
writeFileSync(at('asn.mmdb'), databaseWith({ autonomous_system_number: 1 }))

const write = (...args: readonly string[]) =>
  geofix(['engine', 'spark', at('out'), '--node', at('node'), '--db', at('db.mmdb'), ...args])

describe.skipIf(process.platform === 'win32')('geofix engine spark', () => {
  it('writes the module of the package, and an archive that runs without an environment', async () => {
    const sizes = /geofix_spark\.py: [\d,]+ bytes; .*geofix-worker\.tgz: [\d,]+ bytes\n$/
    expect(await write()).toMatchObject({ status: 0, err: expect.stringMatching(sizes) })
    expect(readdirSync(at('out')).sort()).toEqual([
      'geofix-worker.tgz',
      'geofix_locator.py',
      'geofix_spark.py',
    ])
    for (const name of ['geofix_locator.py', 'geofix_spark.py']) {
      expect(readFileSync(at(`out/${name}`))).toEqual(readFileSync(join(ROOT, 'src/engines', name)))
    }
    execFileSync('tar', ['xzf', at('out/geofix-worker.tgz'), '-C', at('out')])
    expect(readFileSync(at('out/bin/node'))).toEqual(readFileSync(at('node')))
    expect(readdirSync(at('out/node_modules')).sort()).toEqual(['geofix'])
    rmSync(at('out/bin/node'))
    symlinkSync(process.execPath, at('out/bin/node'))
    const found = execFileSync('env', ['-i', 'out/bin/geofix', '81.2.69.142'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(JSON.parse(found)).toMatchObject({ city: 'Own' })
  })

  it('writes the module for Python alone', async () => {
    const { status, err } = await geofix(['engine', 'python', at('python')])
    expect([status, readdirSync(at('python'))]).toEqual([0, ['geofix_locator.py']])
    expect(err).toMatch(/geofix_locator\.py: [\d,]+ bytes\n$/)
  })

  it('keeps a database packed', async () => {
    writeFileSync(at('db.packed'), pack(readFileSync(at('db.mmdb'))))
    const options = ['--node', at('node'), '--db', at('db.packed')]
    expect((await geofix(['engine', 'spark', at('packed'), ...options])).status).toBe(0)
    execFileSync('tar', ['xzf', at('packed/geofix-worker.tgz'), '-C', at('packed')])
    const file = readFileSync(at('packed/node_modules/geofix/data/city.mmdb.packed'))
    expect(file.equals(readFileSync(at('db.packed')))).toBe(true)
  })

  it('writes the same bytes again', async () => {
    const before = readFileSync(at('out/geofix-worker.tgz'))
    expect((await write()).status).toBe(0)
    expect(readFileSync(at('out/geofix-worker.tgz')).equals(before)).toBe(true)
  })

  it.each([
    [words`--node script`, 2, 'is not a program for Linux: give the bin/node of'],
    [words`--node debian-node`, 2, 'needs the library libnode.so'],
    [words`--node none`, 4, 'none cannot be read: no such file or directory'],
    // A database without locations.
    [words`--node node --db asn.mmdb`, 1, 'asn.mmdb: it has no locations'],
    [words`--node node --db none.mmdb`, 4, 'none.mmdb: it cannot be read'],
  ])('refuses %j', async (options, status, message) => {
    const args = options.map((each) => (each.startsWith('--') ? each : at(each)))
    const ran = await geofix(['engine', 'spark', at('refused'), ...args])
    expect(ran).toEqual(failure(status, message))
    expect(readdirSync(folder)).not.toContain('refused')
  })

  it('needs a folder that can be made', async () => {
    const ran = await geofix(['engine', 'spark', at('node/out'), '--node', at('node'), '--db', at('db.mmdb')])
    expect(ran).toEqual(failure(3, 'cannot be written'))
    expect((await geofix(['engine', 'spark'])).status).toBe(2)
  })
})
