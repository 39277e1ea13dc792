import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** The tool that compressed the databases. A version of it gives the same bytes for the same input. */
export type Compressor = { readonly tool: string; readonly version: string }

export const TOOL = 'libdeflate-gzip'

/**
 * Level 12 of libdeflate makes gzip files a fifth smaller than level 9 of zlib, with the same bytes every time. There
 * is not a fallback: another compressor gives other bytes, and another version can. The manifest names the version.
 *
 * @throws Error if the tool is not installed or does not print its version
 */
export function requireLibdeflate(): Compressor {
  const { error, stdout } = spawnSync(TOOL, ['-V'], { encoding: 'utf8' })
  if (error !== undefined) {
    throw new Error(`${TOOL} is not installed: apt-get install libdeflate-tools (or brew install libdeflate)`)
  }
  return { tool: TOOL, version: versionIn(stdout) }
}

/** The version in what `libdeflate-gzip -V` prints: "gzip compression program v1.14" and a copyright notice. */
export function versionIn(printed: string): string {
  const version = /^gzip compression program v(\d+(?:\.\d+)+)$/m.exec(printed)?.[1]
  if (version === undefined) throw new Error(`${TOOL} -V printed no version: ${printed.trim()}`)
  return version
}

/** Compresses bytes into a file whose path ends in .gz, and checks that the file decompresses to the same bytes. */
export function writeCompressed(bytes: Uint8Array, path: string): Buffer {
  const raw = path.replace(/\.gz$/, '')
  writeFileSync(raw, bytes)
  execFileSync(TOOL, ['-12', '-f', '-k', raw])
  rmSync(raw)
  const packed = withoutFileMetadata(readFileSync(path))
  if (!gunzipSync(packed).equals(bytes)) throw new Error(`${path} does not decompress to the original bytes`)
  writeFileSync(path, packed)
  return packed
}

/** A gzip member without file name and time (RFC 1952 section 2.3.1), which differ between builds. */
export function withoutFileMetadata(gzip: Buffer): Buffer {
  const FNAME = 8
  const flags = gzip[3] ?? 0
  if (gzip[0] !== 0x1f || gzip[1] !== 0x8b || (flags & ~FNAME) !== 0)
    throw new Error('unexpected gzip header')
  const body = (flags & FNAME) === 0 ? 10 : gzip.indexOf(0, 10) + 1
  const header = Buffer.from(gzip.subarray(0, 10))
  header[3] = 0
  header.writeUInt32LE(0, 4)
  return Buffer.concat([header, gzip.subarray(body)])
}
