/**
 * The names on the way to a value: `client.ip`, or a JSON pointer (RFC 6901) such as `/client/ip` for names with
 * dots in them.
 *
 * @throws TypeError when it is neither
 */
export function pathOf(field: string, option: string): readonly string[] {
  if (typeof field !== 'string' || field === '' || field === '/') {
    throw new TypeError(`the option "${option}" must be a path such as client.ip or /client/ip`)
  }
  if (!field.startsWith('/')) return field.split('.')
  if (/~(?![01])/.test(field)) {
    throw new TypeError(`the option "${option}" is no JSON pointer: "~" is written as "~0" there`)
  }
  return field
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** The shortest spelling that {@link pathOf} reads back. */
export function pathText(path: readonly string[]): string {
  const dotted = path.join('.')
  if (path.every((name) => name !== '' && !name.includes('.')) && !dotted.startsWith('/')) return dotted
  return path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** What an object has at a path; `undefined` when there is nothing. */
export function valueAt(object: unknown, path: readonly string[]): unknown {
  let value = object
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined
    if (Array.isArray(value) && !/^(?:0|[1-9]\d*)$/.test(name)) return undefined
    value = Object.getOwnPropertyDescriptor(value, name)?.value
  }
  return value
}
