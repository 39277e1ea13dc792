// The code that the core loads on demand: to read a packed database, and to decompress gzip and archives. It works on every
// platform.
export { extractUncompressed } from '../bytes/extract.ts'
export { gunzip, PORTABLE_CODEC } from '../bytes/gunzip.ts'
export { openPackedBytes } from './open-bytes.ts'
