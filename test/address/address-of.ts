import { Address } from '../../src/address/address.ts'

/** @throws RangeError if it is not an address */
export function addressOf(text: string): Address {
  const address = new Address()
  if (!address.parse(text)) throw new RangeError(`${text} is not an address`)
  return address
}
