// The package's main module imports a decompressor for every codec, and starts WebAssembly. This part needs neither.
declare module 'hyparquet-compressors/src/lz4.js' {
  export { decompressLz4, decompressLz4Raw } from 'hyparquet-compressors'
}
