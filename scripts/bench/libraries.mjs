// The libraries as programs use them, in plain JavaScript. Imports little, because what is imported counts as their start.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

/** Loads a library. Those of CommonJS are loaded as their programs do. */
export const load = (library, module) =>
  library === 'geofix' ? import(pathToFileURL(module)) : createRequire(import.meta.url)(module)

/** Opens a library, and gives its function for one address. */
export async function open(library, module, database, shared, cacheBytes) {
  const loaded = await load(library, module)
  switch (library) {
    case 'geofix': {
      const { Resolver } = loaded
      const geo =
        shared === undefined ? await Resolver.open(database, { cacheBytes }) : Resolver.attach(shared)
      return Object.assign((ip) => geo.find(ip), { share: () => geo.share() })
    }
    case 'maxmind': {
      const reader = await loaded.open(database)
      return (ip) => reader.get(ip)
    }
    default:
      return (ip) => loaded.lookup(ip)
  }
}

/** A function that gives random addresses, the same ones for the same seed. */
export function randomAddresses(seed) {
  let state = seed + 1
  const octet = () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 16) & 255
  }
  return () => `${(octet() % 223) + 1}.${octet()}.${octet()}.${octet()}`
}
