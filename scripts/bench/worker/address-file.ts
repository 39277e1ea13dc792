import { readFileSync } from 'node:fs'

/**
 * The lines of a file. Each is a string of its own, as programs get addresses from sockets: `split` would give
 * views of one long string, which are slower to read.
 */
export function readAddresses(path: string): string[] {
  const bytes = readFileSync(path)
  const addresses: string[] = []
  let start = 0
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    addresses.push(bytes.toString('latin1', start, end))
    start = end + 1
  }
  return addresses
}
