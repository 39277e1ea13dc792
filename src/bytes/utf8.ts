/** @throws TypeError where the platform has no TextDecoder, as in jest with jsdom */
export function utf8Decoder(options: { fatal?: boolean; ignoreBOM?: boolean } = {}): TextDecoder {
  if (typeof TextDecoder === 'undefined') throw missing('TextDecoder')
  return new TextDecoder('utf-8', options)
}

/** @throws TypeError where the platform has no TextEncoder, as in jest with jsdom */
export function utf8Encoder(): TextEncoder {
  if (typeof TextEncoder === 'undefined') throw missing('TextEncoder')
  return new TextEncoder()
}

function missing(name: 'TextDecoder' | 'TextEncoder'): TypeError {
  return new TypeError(
    `${name} is missing. In jest with jsdom, write "const { TextDecoder, TextEncoder } = require('util'); Object.assign(globalThis, { TextDecoder, TextEncoder })" in a file that "setupFiles" names, or use "testEnvironment": "node"`,
  )
}
