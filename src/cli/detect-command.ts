import { Address } from '../address/address.ts'
import { describeSpecialPurpose } from '../address/special-purpose.ts'
import { ClientWalk, type WalkStep } from '../client/client-address.ts'
import { quoted } from '../errors.ts'
import { DETECT_OPTIONS, type FlagsOf, inFlags } from './options.ts'
import { ExitStatus, type Terminal, writeLine } from './terminal.ts'

/**
 * Explains, hop by hop, which address `detect` takes and why: `geofix detect`.
 *
 * @throws UsageError if the trust configuration is invalid
 */
export async function runDetect(
  flags: FlagsOf<typeof DETECT_OPTIONS>,
  terminal: Terminal,
): Promise<ExitStatus> {
  const walk = inFlags(() => new ClientWalk(flags), DETECT_OPTIONS)
  const client = new Address()
  const steps: WalkStep[] = []
  const source = { headers: fieldsByName(flags.header), remoteAddress: flags.peer }
  let outcome: string
  let status: ExitStatus = ExitStatus.failed
  const via = walk.find(source, undefined, client, (step) => steps.push(step))
  if (typeof via !== 'string') outcome = sentence(via.error.message)
  else {
    outcome = `The client is ${client.text}, from ${via === 'socket' ? 'the socket' : `the header field ${via}`}.`
    if (client.special === null) status = ExitStatus.ok
    else outcome += ` ${sentence(describeSpecialPurpose(client.text, client.special))}`
    if (client.special === null && client.lookupText !== client.text) {
      outcome += ` It is looked up as ${client.lookupText}, the IPv4 address that it contains.`
    }
  }
  for (const [index, step] of steps.entries()) {
    await writeLine(terminal.stdout, `${index + 1}. ${explain(step, walk)}`)
  }
  await writeLine(terminal.stdout, outcome)
  return status
}

function explain({ via, text, verdict }: WalkStep, walk: ClientWalk): string {
  const isPeer = via === 'socket'
  const hop = isPeer
    ? `The peer ${text}`
    : `The hop ${verdict === 'trusted' || verdict === 'client' ? text : quoted(text)}`
  switch (verdict) {
    case 'trusted':
      return isPeer
        ? `${hop} is a trusted proxy: read the header field ${walk.field}, from the right.`
        : `${hop} is a trusted proxy: go on with the hop to its left.`
    case 'client':
      if (isPeer) return `${hop} is not a trusted proxy: headers are ignored.`
      return walk.isList
        ? `${hop} is not a trusted proxy: it is the client. Hops to its left are ignored.`
        : `${hop} was set by the trusted proxy: it is the client.`
    case 'unidentified':
      return `${hop} does not identify an address: stop here.`
    case 'malformed':
      return `${hop} is malformed: stop here, since skipping it would let the caller choose the address.`
  }
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

function fieldsByName(
  headers: readonly (readonly [name: string, value: string])[] = [],
): Record<string, string[]> {
  const fields = new Map<string, string[]>()
  for (const [name, value] of headers) {
    const key = name.toLowerCase()
    fields.set(key, [...(fields.get(key) ?? []), value])
  }
  return Object.fromEntries(fields)
}
