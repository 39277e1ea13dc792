import { isTar } from '../bytes/extract.ts'

/** A file that holds other files or compressed bytes, and so no lines. */
export interface Container {
  /** In words that could follow "the input is". */
  readonly what: string
  /** What to do about it, with the command. */
  readonly advice: string
}

/** More than any of the magic bytes below. */
const HEAD_BYTES = 16

/** What is compressed, by magic bytes in hexadecimal: the program with `-dc` decompresses it to standard output. */
const COMPRESSED: readonly [name: string, program: string, ...magic: string[]][] = [
  ['gzip', 'gzip', '1f8b08'],
  ['compress', 'gzip', '1f9d'],
  // Parallel compressors begin with a skippable frame, of which the first byte has 16 values (RFC 8878 section 3.1.2).
  ['zstd', 'zstd', '28b52ffd', ...Array.from('0123456789abcdef', (digit) => `5${digit}2a4d18`)],
  // With the mark of a block or of an empty stream: "BZh" may begin a word.
  [
    'bzip2',
    'bzip2',
    ...Array.from('123456789', (level) => [
      `425a683${level}314159265359`,
      `425a683${level}177245385090`,
    ]).flat(),
  ],
  ['xz', 'xz', 'fd377a585a00'],
  ['lzma', 'xz', '5d0000'],
  ['lz4', 'lz4', '04224d18', '02214c18'],
  ['lzip', 'lzip', '4c5a495001'],
  ['lzop', 'lzop', '894c5a4f000d0a1a0a'],
]

const DOCUMENT = 'an office document'
const SAVE_AS_CSV = 'save its sheet as CSV in UTF-8'

/** Of a zip archive's first member, and where its name begins. */
const ZIP_MEMBER = '504b0304'
const ZIP_NAME = 30
/** How the name of the first member of an Office or OpenDocument file begins. */
const IN_DOCUMENTS = ['[Content_Types]', '_rels/', 'docProps/', 'xl/', 'mimetype']

/** The others, in the same way. */
const OTHERS: readonly [what: string, advice: string, ...magic: string[]][] = [
  // With members, empty, and in parts.
  ['a zip archive', 'unpack it, as unzip FILE does', ZIP_MEMBER, '504b0506', '504b0708'],
  ['a 7z archive', 'unpack it, as 7z x FILE does', '377abcaf271c'],
  ['a rar archive', 'unpack it, as unrar x FILE does', '526172211a07'],
  [DOCUMENT, SAVE_AS_CSV, 'd0cf11e0a1b11ae1'],
]

/**
 * Recognises a container by the first bytes of an input. Those of tar are at 257: a sample below 512 bytes is no tar
 * archive.
 */
export function containerOf(sample: Uint8Array): Container | null {
  const head = Array.from(sample.subarray(0, HEAD_BYTES), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
  const hasOne = (magic: readonly string[]): boolean => magic.some((each) => head.startsWith(each))
  for (const [name, program, ...magic] of COMPRESSED) {
    if (hasOne(magic)) {
      return { what: `compressed with ${name}`, advice: `decompress it, as ${program} -dc FILE does` }
    }
  }
  if (isZippedDocument(sample, head)) return { what: DOCUMENT, advice: SAVE_AS_CSV }
  for (const [what, advice, ...magic] of OTHERS) if (hasOne(magic)) return { what, advice }
  return isTar(sample) ? { what: 'a tar archive', advice: 'unpack it, as tar -xf FILE does' } : null
}

function isZippedDocument(sample: Uint8Array, head: string): boolean {
  const name = String.fromCharCode(...sample.subarray(ZIP_NAME, ZIP_NAME + HEAD_BYTES))
  return head.startsWith(ZIP_MEMBER) && IN_DOCUMENTS.some((each) => name.startsWith(each))
}
