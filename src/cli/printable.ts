/** Control characters, and those that turn the text behind them round. */
const NOT_PRINTABLE = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

/** A line that comes from a file, for the terminal: it can neither move the cursor nor hide what follows. */
export function printable(line: string): string {
  return line.replace(NOT_PRINTABLE, '\ufffd')
}
