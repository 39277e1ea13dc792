// Errors for habits that programs bring from other libraries. Each says what to write instead.

const LOOKUP = 'geo.lookup(ip) gives country, region, city, coordinates and time zone'
const RAW = "geo.raw(ip) gives the vendor's record"

/** Methods of the readers of maxmind, @maxmind/geoip2-node and geoip-lite, which a Resolver does not have. */
const FOREIGN_METHODS: Readonly<Record<string, string>> = {
  get: `${LOOKUP}, and ${RAW}`,
  getWithPrefixLength: `${RAW}, and geo.network(ip) the network`,
  city: LOOKUP,
  country: LOOKUP,
  enterprise: `${LOOKUP}, and ${RAW}`,
  isp: RAW,
  anonymousIP: RAW,
  connectionType: RAW,
  domain: RAW,
}

/** Methods of an open resolver, which programs call on the class or on the promise of `open`. */
const METHODS = [
  'lookup',
  'lookupMany',
  'find',
  'detect',
  'findClient',
  'raw',
  'asn',
  'network',
  'networks',
  ...Object.keys(FOREIGN_METHODS),
]

const OPEN_FIRST = 'const geo = await Resolver.open(), then'

/** Adds methods that are not enumerable and throw. */
function addThrowing(target: object, names: readonly string[], messageOf: (name: string) => string): void {
  for (const name of names) {
    const value = (): never => {
      throw new TypeError(messageOf(name))
    }
    Object.defineProperty(target, name, { value, configurable: true, writable: true })
  }
}

/** Makes the methods of other libraries' readers errors that name the method to call. */
export function refuseForeignMethods(prototype: object, resolver: object): void {
  addThrowing(
    prototype,
    Object.keys(FOREIGN_METHODS),
    (name) => `a Resolver has no method ${name}: ${FOREIGN_METHODS[name]}`,
  )
  addThrowing(
    resolver,
    METHODS,
    (name) =>
      `Resolver.${name} does not exist: open a database first, ${OPEN_FIRST} geo.${nameHere(name)}(…)`,
  )
}

/** Makes calls on the promise itself errors that say `await`. @returns the promise */
export function mustBeAwaited<Opening extends Promise<unknown>>(opening: Opening): Opening {
  addThrowing(
    opening,
    METHODS,
    (name) =>
      `Resolver.open returns a promise, which has no method ${name}: write ${OPEN_FIRST} geo.${nameHere(name)}(…), or use Resolver.openSync`,
  )
  return opening
}

function nameHere(name: string): string {
  return name in FOREIGN_METHODS ? 'lookup' : name
}

/** The error for `new Resolver()`. */
export function noConstructor(): TypeError {
  return new TypeError(
    'a Resolver is not made with new: write await Resolver.open(source), or Resolver.openSync(source)',
  )
}

/**
 * The error for a method that is called without its object, as by `ips.map(geo.lookup)`.
 *
 * @param given the parameter to write: all of them would pass on the index that `map` gives too
 */
export function detached(name: string, given = 'ip'): TypeError {
  const forMany = name === 'lookup' || name === 'find' ? ', or geo.lookupMany(ips)' : ''
  return new TypeError(
    `${name} was called without its resolver: write (${given}) => geo.${name}(${given}) instead of geo.${name}${forMany}`,
  )
}

/** What is probably wrong with a source of an unsupported kind, to follow a message; empty if that is not known. */
export function sourceAdvice(source: unknown): string {
  if (typeof source === 'function')
    return '. Geofix calls no callback: write const geo = await Resolver.open(…)'
  if (typeof source !== 'object' || source === null) return ''
  if ('then' in source) return '. This is a promise: await it'
  if (Object.getPrototypeOf(source) === Object.prototype) {
    return '. Options come second: Resolver.open(undefined, { … }) opens the embedded database'
  }
  return ''
}
