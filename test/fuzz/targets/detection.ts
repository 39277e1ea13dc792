import fc from 'fast-check'
import '../../../src/enrich/formats/all-formats.ts'
import { FORMATS, type Format, makePlan } from '../../../src/enrich/formats/formats.ts'
import { GeofixError } from '../../../src/errors.ts'
import { checkGrowth, type Repeated, repeatedInputs } from '../growth.ts'
import type { Target } from '../target.ts'

/** What first lines of formats are made of. */
const pieces = fc.constantFrom(
  ...'{"a": {"ip":"81.2.69.142", "a":1, "":{} } [ [{ ] [[], " "", \\ \\" {"log":" msgid=< H=( ?a='.split(' '),
  ...', ; #fields\t # sep=; : - . = ( < > @ <34> a A. 1 1. 81.2.69.142 2001:db8::1'.split(' '),
  ...'ip client_ip client_ip= aaaaaaaaaaaaaaaa'.split(' '),
  ...['\t', ' ', '\n', '\r\n', '#Fields: ', '81.2.69.142 ', '" 200 1 "', 'GET /', '[a/b] ', 'web-1  | '],
  ...[' - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 1 ', '[01/Jul/2026:12:00:00 +0000] '],
  ...['2026-07-01T12:00:00Z stdout P ', 'Jul  1 12:00:00 web nginx: '],
)

interface Start extends Repeated {
  readonly format: Format | null
}

/** Detection and planning: the time grows with the size of the first lines, and not faster. */
export const detection: Target<Start> = {
  name: 'detection',
  inputs: fc
    .tuple(
      repeatedInputs(pieces),
      fc.option(fc.constantFrom(...FORMATS.filter((name) => name !== 'custom-log'))),
    )
    .map(([repeated, format]) => ({ ...repeated, format })),
  shortRuns: 3,
  check({ format, ...repeated }) {
    checkGrowth((sample) => plan(sample, format), repeated)
  },
}

function plan(sample: Uint8Array, format: Format | null): void {
  for (const isWhole of [true, false]) {
    try {
      makePlan({ bytes: sample, isWhole }, format === null ? {} : { format })
    } catch (error) {
      if (!(error instanceof GeofixError)) throw error
    }
  }
}
