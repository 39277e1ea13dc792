import type { Address } from '../address/address.ts'

/** The name of the network by which a client is counted. IPv6 counts by /64, because a host can use all addresses of its own. */
export function clientNetwork({ version, text, words }: Address): string {
  return version === 4 ? text : `${words[0]?.toString(16)}:${words[1]?.toString(16)}`
}
