import { deflateRawSync, crc32 as zlibCrc32 } from 'node:zlib'

/** 10 KB that compress to a small file. */
export const CONTENT: Uint8Array = Uint8Array.from({ length: 10_000 }, (_, i) => (i % 97) ^ (i >> 9))

interface Parts {
  /** FLG of RFC 1952 section 2.3.1. */
  readonly flags?: number
  /** The fields after the ten bytes of header. */
  readonly fields?: Uint8Array
  readonly deflate?: Uint8Array
  readonly crc?: number
  readonly length?: number
}

/** A hand-made gzip file (RFC 1952 section 2.3), valid by default. */
export function gzipOf(content: Uint8Array, parts: Parts = {}): Uint8Array {
  const { flags = 0, fields = new Uint8Array(), deflate = deflateRawSync(content) } = parts
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(parts.crc ?? zlibCrc32(content), 0)
  trailer.writeUInt32LE(parts.length ?? content.length, 4)
  const header = [0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 255]
  return new Uint8Array(Buffer.concat([Buffer.from(header), fields, deflate, trailer]))
}

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)

/** FNAME, FCOMMENT, FEXTRA, all of them with FHCRC, and FTEXT. */
export function optionalHeaders(): [name: string, file: Uint8Array][] {
  const extra = Uint8Array.of(4, 0, 1, 2, 0, 0)
  const all = Buffer.concat([extra, ascii('a.mmdb\0'), ascii('made by hand\0')])
  const header = Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0x1e, 0, 0, 0, 0, 0, 255]), all])
  const headerCrc = Buffer.alloc(2)
  headerCrc.writeUInt16LE(zlibCrc32(header) & 0xffff)
  return [
    ['none', gzipOf(CONTENT)],
    ['FTEXT', gzipOf(CONTENT, { flags: 1 })],
    ['FNAME', gzipOf(CONTENT, { flags: 8, fields: ascii('a.mmdb\0') })],
    ['an empty FNAME', gzipOf(CONTENT, { flags: 8, fields: ascii('\0') })],
    ['FCOMMENT', gzipOf(CONTENT, { flags: 16, fields: ascii('made by hand\0') })],
    ['FEXTRA', gzipOf(CONTENT, { flags: 4, fields: extra })],
    ['an empty FEXTRA', gzipOf(CONTENT, { flags: 4, fields: Uint8Array.of(0, 0) })],
    ['all and FHCRC', gzipOf(CONTENT, { flags: 0x1e, fields: Buffer.concat([all, headerCrc]) })],
  ]
}

/** Damaged or forged files, and a part of the expected message. */
export function damagedFiles(): [name: string, file: Uint8Array, message: string][] {
  const good = gzipOf(CONTENT)
  const with_ = (...more: Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat([good, ...more]))
  const deflate = deflateRawSync(CONTENT)
  return [
    ['nothing', new Uint8Array(), 'cut short'],
    ['no magic number', gzipOf(CONTENT).fill(0, 0, 1), 'does not start with a gzip header'],
    ['only the magic number', good.subarray(0, 3), 'cut short'],
    ['only header and trailer', gzipOf(CONTENT, { deflate: new Uint8Array() }), 'cut short'],
    ['reserved flags', gzipOf(CONTENT, { flags: 0x20 }), 'reserved flags'],
    [
      'FNAME without end',
      gzipOf(CONTENT, { flags: 8, fields: ascii('x'), deflate: ascii('y'), crc: -1 >>> 0, length: -1 >>> 0 }),
      'does not end',
    ],
    ['a FEXTRA too long', gzipOf(CONTENT, { flags: 4, fields: Uint8Array.of(255, 255) }), 'cut short'],
    [
      'FEXTRA too long, FHCRC',
      gzipOf(CONTENT, { flags: 6, fields: Uint8Array.of(255, 255) }),
      'does not end',
    ],
    [
      'FEXTRA too long, FNAME',
      gzipOf(CONTENT, { flags: 12, fields: Uint8Array.of(255, 255) }),
      'does not end',
    ],
    ['a wrong FHCRC', gzipOf(CONTENT, { flags: 2, fields: Uint8Array.of(1, 2) }), 'its checksum'],
    ['a wrong CRC', gzipOf(CONTENT, { crc: 1 }), 'damaged'],
    ['a length of one less', gzipOf(CONTENT, { length: CONTENT.length - 1 }), 'damaged'],
    ['a length of one more', gzipOf(CONTENT, { length: CONTENT.length + 1 }), 'damaged'],
    ['a length of nothing', gzipOf(CONTENT, { length: 0 }), 'damaged'],
    ['a length of 4 GB', gzipOf(CONTENT, { length: 0xffffffff }), 'over the limit'],
    ['a length of 2 GB', gzipOf(CONTENT, { length: 0x7fffffff }), 'more bytes than the file can hold'],
    ['a byte after it', with_(Uint8Array.of(0)), 'damaged'],
    ['zeros after it, as on a tape', with_(new Uint8Array(512)), 'damaged'],
    ['a second member', with_(gzipOf(ascii('more'))), 'damaged'],
    ['an empty second member', with_(gzipOf(new Uint8Array())), 'damaged'],
    ['an empty member before it', new Uint8Array(Buffer.concat([gzipOf(new Uint8Array()), good])), 'damaged'],
    ['a member of a byte before it', new Uint8Array(Buffer.concat([gzipOf(ascii('x')), good])), 'damaged'],
    ['deflate data without a last block', gzipOf(CONTENT, { deflate: deflate.subarray(0, -2) }), 'damaged'],
    ['deflate data of a reserved block type', gzipOf(CONTENT, { deflate: Uint8Array.of(7, 0) }), 'damaged'],
    // The trailer matches the first bytes of the content; only the length is wrong.
    ['more content than the length in the trailer', gzipOf(CONTENT.subarray(0, 50), { deflate }), 'damaged'],
  ]
}
