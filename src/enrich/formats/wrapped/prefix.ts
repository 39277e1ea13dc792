import type { PrefixWrapper } from '../../options.ts'
import { firstLines } from '../../reading/sample.ts'
import { latin1 } from '../../swar.ts'

/** An escape by which terminals change the colour. */
const COLOURS = `(?:${String.fromCharCode(0x1b)}\\[[\\d;]*[A-Za-z])*`

/**
 * What wrappers write before a line.
 * - `compose`: Docker Compose, the name of the container in the colour of the service
 * - `cri`: container runtimes of Kubernetes, kubernetes/design-proposals-archive `node/kubelet-cri-logging.md`. `P` is a part of a line
 * - `kubectl`: `kubectl logs --prefix`
 * - `syslog`: RFC 5424, RFC 3164, and the latter with the times of rsyslog
 */
const PREFIXES: Readonly<Record<PrefixWrapper, RegExp>> = {
  compose: new RegExp(`^${COLOURS}[\\w.-]+ *\\| ${COLOURS}`),
  cri: /^\d{4}-\d\d-\d\dT\S{1,30} std(?:out|err) [FP](?::\S*)? /,
  kubectl: /^\[[\w.-]+(?:\/[\w.-]+)+\] /,
  syslog:
    /^(?:<\d{1,3}>1 \S+ \S+ \S+ \S+ \S+ (?:-|(?:\[[^\]]*\])+) |(?:<\d{1,3}>)?(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S{1,30}) \S+ [^\s:[]+(?:\[\d+\])?: )/,
}

/** The programs that write these prefixes, for a note. */
export const WRITERS: Readonly<Record<PrefixWrapper, string>> = {
  compose: 'Docker Compose',
  cri: 'a container runtime',
  kubectl: 'kubectl --prefix',
  syslog: 'syslog',
}

/** Longer prefixes are not found. Bytes. */
const MAX_PREFIX_BYTES = 512
/** Lines of a sample that are looked at, and the share of them that must have the prefix. */
const LINES = 50
const SHARE = 0.9

/** @returns the index after the prefix of the line `bytes[start, end)`, where its content begins; `start` if it has none */
export function endOfPrefix(wrapper: PrefixWrapper, bytes: Uint8Array, start: number, end: number): number {
  const head = latin1(bytes, start, Math.min(end, start + MAX_PREFIX_BYTES))
  return start + (PREFIXES[wrapper].exec(head)?.[0].length ?? 0)
}

/** The wrappers that most of the first lines have. */
export function* wrappersOf(sample: Uint8Array): Generator<PrefixWrapper> {
  for (const wrapper of ['compose', 'cri', 'kubectl', 'syslog'] as const) {
    const lines = firstLines({ bytes: sample, isWhole: true }, LINES)
    const wrapped = lines.filter(({ start, end }) => endOfPrefix(wrapper, sample, start, end) > start)
    if (wrapped.length > 0 && wrapped.length >= SHARE * lines.length) yield wrapper
  }
}
