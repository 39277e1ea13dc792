import { atLeast } from '../row.ts'
import { compare } from './comparison.ts'
import type { Scenario } from './scenario.ts'

/** `detect` without a proxy, for requests of Node's HTTP server. */
export const request: Scenario = {
  title: 'detect, no proxy',
  onlyInFull: false,
  run: (stage, subject) => {
    const list = subject.inputs.requests
    const ours = { name: 'detect', contender: 'detect', list }
    const peer = { name: 'lookup', contender: 'lookup', list, target: atLeast(0.8) }
    return compare(stage, subject, request.title, ours, [peer])
  },
}
