import { createInterface } from 'node:readline'
import { NodeResolver } from '../node/node-resolver.ts'
import { isLookupFailure, type LookupResult } from '../record/location-record.ts'
import { ExitStatus, type Terminal, writeLine, writeMessage } from './terminal.ts'

export interface LookupCommand {
  /** Empty: one address a line from standard input. */
  readonly addresses: readonly string[]
  /** Files; empty: the embedded database. */
  readonly databases: readonly string[]
  readonly locale: string | undefined
  readonly at: Date | undefined
  /** Indented JSON rather than one record a line. */
  readonly pretty: boolean
}

/** Prints the record of each address, in order; failures go to standard error. */
export async function runLookup(command: LookupCommand, terminal: Terminal): Promise<ExitStatus> {
  const { addresses, databases, locale, at, pretty } = command
  const resolver = await NodeResolver.open(databases.length > 0 ? databases : undefined)
  const options = { locale, at }
  let status: ExitStatus = ExitStatus.ok
  for await (const address of addresses.length > 0 ? addresses : linesOf(terminal)) {
    const [result] = resolver.lookupMany([address], options)
    if (result === undefined) continue
    if (isLookupFailure(result)) {
      status = ExitStatus.failed
      await writeMessage(terminal.stderr, result.error.message)
    } else {
      await writeLine(terminal.stdout, print(result, pretty))
    }
  }
  return status
}

function print(record: LookupResult, pretty: boolean): string {
  return JSON.stringify(record, null, pretty ? 2 : undefined)
}

/** The lines of standard input that are not empty, with the ends of Unix or Windows. */
async function* linesOf({ stdin }: Terminal): AsyncGenerator<string> {
  for await (const line of createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    // A byte order mark is no part of the first line.
    const text = line.replace(/^\ufeff/, '')
    if (text !== '') yield text
  }
}
