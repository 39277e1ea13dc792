import fc from 'fast-check'
import { ByteSink } from '../../../src/bytes/byte-sink.ts'
import { AddressMask } from '../../../src/enrich/masking/address-mask.ts'
import { AddressScanner } from '../../../src/enrich/scanning/address-scanner.ts'
import { WHOLE_TOKENS } from '../../../src/enrich/scanning/whole-tokens.ts'
import { checkGrowth, type Repeated, repeatedInputs } from '../growth.ts'
import type { Target } from '../target.ts'

const pieces = fc.constantFrom(
  ...[':', '::', 'a::', 'ab:', '12:', '2001:', '0:', 'f', '2001:db8::1', '::ffff:', '2001-', 'a-', '--'],
  ...['.', '1.', '1.2.', '0.', '81.2.69.142', '0121.', '1,', '1_', '1-', '8', '081002069142', 'a.', '.ip6'],
  ...['[', ']', '"', "'", '(', ' ', '\n', '/', '@', '%', '%2E', '%25', '\\', '\\x2e', '\\u003a', '#056'],
  ...['&#', '&#46;', ';', '．', '=', '|', 'x', '\u001b[31m', '2a02:1:2:3:4:5:6:7:'],
)

const mask = AddressMask.of({ mask: [24, 48], dropAddress: false, pseudonymKey: null })

function write(bytes: Uint8Array): void {
  mask?.write(bytes, 0, bytes.length, new ByteSink(bytes.length))
}

/** Masks and the search for addresses in text: the time grows with the size, and not faster. */
export const masks: Target<Repeated> = {
  name: 'masks',
  inputs: repeatedInputs(pieces),
  shortRuns: 5,
  check({ head, unit, tail }) {
    checkGrowth(write, { head, unit, tail })
    const scanner = new AddressScanner(WHOLE_TOKENS)
    checkGrowth(
      (bytes) => {
        let at = 0
        while (scanner.next(bytes, 0, at, bytes.length)) at = scanner.tokenEnd
      },
      { head, unit, tail },
    )
  },
}
