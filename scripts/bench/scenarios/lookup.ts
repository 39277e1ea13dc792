import type { Inputs } from '../inputs.ts'
import { atLeast } from '../row.ts'
import type { Entry } from '../stage.ts'
import { compare, type Peer } from './comparison.ts'
import type { Scenario } from './scenario.ts'

export const randomIPv4: Scenario = {
  title: 'lookup, random IPv4',
  onlyInFull: false,
  run: (stage, subject) => {
    const list = subject.inputs.ipv4
    return compare(stage, subject, randomIPv4.title, lookup(list), [
      peer('maxmind, default cache', 'maxmind', list, 25),
      peer('mmdb-lib, no cache', 'mmdb-lib', list, 40),
      peer('maxmind, cache of a million', 'maxmind-million', list, 5),
      // It brings data of its own: the database makes no difference to it.
      peer('geoip-lite', 'geoip-lite', list, 6),
      peer('libmaxminddb (C), nine fields', 'libmaxminddb fields', list, 3),
      peer('libmaxminddb (C), tree only', 'libmaxminddb tree', list, null),
    ])
  },
}

export const skewedIPv4: Scenario = {
  title: 'lookup, skewed traffic',
  onlyInFull: false,
  run: (stage, subject) => {
    const list = subject.inputs.skewed
    return compare(stage, subject, skewedIPv4.title, lookup(list), [
      peer('maxmind, default cache', 'maxmind', list, 10),
    ])
  },
}

export const randomIPv6 = ipv6Scenario('lookup, random IPv6', ({ ipv6 }) => ipv6)
export const ipv6Networks = ipv6Scenario('lookup, IPv6 networks', ({ ipv6Networks }) => ipv6Networks)

function ipv6Scenario(title: string, listOf: (inputs: Inputs) => string): Scenario {
  const run: Scenario['run'] = (stage, subject) => {
    const list = listOf(subject.inputs)
    return compare(stage, subject, title, lookup(list), [
      peer('mmdb-lib, no cache', 'mmdb-lib', list, 25),
      peer('maxmind, default cache', 'maxmind', list, 3),
    ])
  }
  return { title, onlyInFull: false, run }
}

function lookup(list: string): Entry {
  return { name: 'lookup', contender: 'lookup', list }
}

function peer(name: string, contender: string, list: string, target: number | null): Peer {
  return { name, contender, list, target: target === null ? null : atLeast(target) }
}
