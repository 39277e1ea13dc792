let table: Uint32Array | undefined

/** Four tables of 256 entries, for four bytes at a time (the "slicing" method). */
function makeTable(): Uint32Array {
  const entries = new Uint32Array(1024)
  for (let n = 0; n < 256; n++) {
    let c = n
    for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1
    entries[n] = c
  }
  for (let n = 256; n < 1024; n++) {
    const previous = entries[n - 256] ?? 0
    entries[n] = (previous >>> 8) ^ (entries[previous & 255] ?? 0)
  }
  return entries
}

/** The CRC-32 of RFC 1952 section 8, as an unsigned number. */
export function crc32(bytes: Uint8Array): number {
  table ??= makeTable()
  const t = table
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const aligned = bytes.length - (bytes.length % 4)
  let crc = -1
  for (let i = 0; i < aligned; i += 4) {
    crc ^= view.getUint32(i, true)
    crc =
      (t[768 + (crc & 255)] ?? 0) ^
      (t[512 + ((crc >>> 8) & 255)] ?? 0) ^
      (t[256 + ((crc >>> 16) & 255)] ?? 0) ^
      (t[crc >>> 24] ?? 0)
  }
  for (let i = aligned; i < bytes.length; i++) {
    crc = (crc >>> 8) ^ (t[(crc ^ view.getUint8(i)) & 255] ?? 0)
  }
  return ~crc >>> 0
}
