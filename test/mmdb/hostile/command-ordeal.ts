import assert from 'node:assert/strict'
import { join } from 'node:path'
import { geofix } from '../../cli/enrich/command-line.ts'
import { makeFile } from '../../temporary.ts'
import { ADDRESSES } from './ordeal.ts'
import { faultOfRecord } from './well-typed.ts'

const LOG = ADDRESSES.map((ip) => JSON.stringify({ ip })).join('\n')

/** Exit statuses of a command that succeeded, or reported an error. */
const STATUSES = [0, 1, 4]

/** Control characters for a terminal, except line feeds. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test searches for them
const CONTROLS = /[\0-\t\v-\x1f\x7f-\x9f]/

/**
 * Runs a database through every command that reads one. Each must end with a defined status and write well-formed lines
 * without control characters.
 *
 * @param folder for the file
 * @param isVerified whether to verify the whole database too
 */
export async function commandOrdeal(bytes: Uint8Array, folder: string, isVerified = true): Promise<void> {
  const file = makeFile(join(folder, 'hostile.mmdb'), bytes)
  const run = async (args: readonly string[], input = ''): Promise<string[]> => {
    const { status, out, err } = await geofix(args, { input })
    // Outside of tests each command is a process, which leaves no database for the next one.
    globalThis.gc?.()
    assert.ok(STATUSES.includes(status), `${args[0]} ended with ${status}: ${err}`)
    assert.doesNotMatch(out, CONTROLS)
    assert.doesNotMatch(err, CONTROLS)
    assert.ok(status === 0 || out + err !== '', `${args[0]} said nothing`)
    return out.split('\n').slice(0, -1)
  }
  for (const line of await run(['--db', file, ...ADDRESSES])) {
    const record: unknown = JSON.parse(line)
    assert.ok(
      ADDRESSES.some((ip) => faultOfRecord(record, ip) === null),
      line,
    )
  }
  await run(['info', '--db', file])
  for (const line of await run(['info', '--json', '--db', file])) assert.ok(JSON.parse(line).ipVersion > 0)
  for (const line of await run(['enrich', '--db', file, '--threads', '1'], LOG)) {
    const { ip, location } = JSON.parse(line)
    if (location !== null) assert.equal(faultOfRecord(location, ip), null)
  }
  if (isVerified) await run(['verify', file])
}
