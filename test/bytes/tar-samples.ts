interface Entry {
  readonly name: string
  readonly content?: Uint8Array
  /** POSIX type flag; default: a regular file. */
  readonly type?: string
  /** Default: POSIX's `ustar\0` and `00`. */
  readonly magic?: string
  readonly prefix?: string
  /** Digits of the size field, for forged sizes. */
  readonly size?: string
  readonly checksum?: number
}

const BLOCK = 512

/** The header block of POSIX.1-1988, and the content padded to whole blocks. */
export function entry({
  name,
  content = new Uint8Array(),
  type = '0',
  magic = 'ustar\x0000',
  ...rest
}: Entry): Buffer {
  const header = Buffer.alloc(BLOCK)
  const put = (text: string, at: number): number => header.write(text, at, 'latin1')
  put(name, 0)
  put('0000644\0', 100)
  put('0001750\0', 108)
  put('0001750\0', 116)
  put(rest.size ?? `${content.length.toString(8).padStart(11, '0')}\0`, 124)
  put('14707000000\0', 136)
  put(type, 156)
  put(magic, 257)
  put(rest.prefix ?? '', 345)
  header.fill(' ', 148, 156)
  const sum = rest.checksum ?? header.reduce((total, byte) => total + byte, 0)
  put(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([header, content, Buffer.alloc(-content.length & (BLOCK - 1))])
}

/** The end of an archive: two blocks of zeros. */
export const END: Buffer = Buffer.alloc(2 * BLOCK)

export function archive(...entries: Buffer[]): Uint8Array {
  return new Uint8Array(Buffer.concat([...entries, END]))
}

/** One record of a pax header. Its length includes the length itself. */
export function paxRecord(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`)
  let length = rest + String(rest).length
  if (String(length).length > String(rest).length) length = rest + String(length).length
  return `${length} ${key}=${value}\n`
}

/** An archive of regular files, by name. */
export const tarOf = (files: Record<string, Uint8Array>): Uint8Array =>
  archive(...Object.entries(files).map(([name, content]) => entry({ name, content })))
