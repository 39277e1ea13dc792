import { isIP } from 'node:net'

/** An address, without a zone, as WHATWG URL writes IPv6, which is RFC 5952; IPv4-mapped addresses as IPv4. */
export function canonicalOf(address: string): string {
  if (isIP(address) === 4) return address
  const text = new URL(`http://[${address}]/`).hostname.slice(1, -1)
  const [, high, low] = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(text) ?? []
  if (high === undefined || low === undefined) return text
  return [high, low]
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 255])
    .join('.')
}
