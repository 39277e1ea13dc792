import { readlink, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, resolve } from 'node:path'

/** Linux follows no more. */
const MAX_LINKS = 40

const STANDARD_DESCRIPTORS: Readonly<Record<string, number>> = {
  '/dev/stdin': 0,
  '/dev/stdout': 1,
  '/dev/stderr': 2,
}

/** Descriptors that the process has open, by their names. */
const DESCRIPTOR = new RegExp(`^(?:/dev/fd|/proc/(?:self|thread-self|${process.pid})/fd)/(\\d{1,9})$`)

/**
 * What a name stands for, through symbolic links, also where there is nothing yet: an open descriptor, or a path that
 * is not a link. The name of a descriptor leads to its file, which must not be replaced: others write into it too.
 *
 * @returns the number of the descriptor, or the path
 * @throws Error when links lead in a circle
 */
export async function outputTarget(name: string): Promise<number | string> {
  let path = name
  for (let links = 0; links <= MAX_LINKS; links++) {
    const absolute = resolve(path)
    const descriptor = STANDARD_DESCRIPTORS[absolute] ?? DESCRIPTOR.exec(absolute)?.[1]
    if (descriptor !== undefined) return Number(descriptor)
    const link = await linkAt(path)
    if (link === null) return path
    // As the system reads it: from the folder where the link really is.
    path = isAbsolute(link) ? link : `${await realpath(dirname(path))}/${link}`
  }
  throw Object.assign(new Error('the links lead in a circle'), { code: 'ELOOP' })
}

/** @returns `null` where there is no link, or nothing that can be looked at */
async function linkAt(path: string): Promise<string | null> {
  try {
    return await readlink(path)
  } catch {
    return null
  }
}
