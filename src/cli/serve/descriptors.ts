/**
 * Descriptors that are kept free of connections: Node itself takes about 25, and the files of keys and databases
 * are opened again when they change.
 */
const RESERVED_DESCRIPTORS = 96

/**
 * How many connections a server may have open, so that connections never take the last descriptor of the process. A
 * process without descriptors cannot read a file of keys, and would not learn that a key was revoked.
 *
 * @param most the result if the process may have enough descriptors
 * @param limit how many descriptors the process may have, as `ulimit -n` prints it. Default: that of this process
 */
export function connectionLimit(most: number, limit = descriptorLimit()): number {
  // If the process may have few descriptors, connections get a fourth of them.
  return Math.min(most, Math.max(limit - RESERVED_DESCRIPTORS, Math.floor(limit / 4)))
}

let known: number | undefined

/** The limit of this process, which Node raises to the hard limit when it starts. Windows has none. */
function descriptorLimit(): number {
  known ??= readDescriptorLimit()
  return known
}

function readDescriptorLimit(): number {
  const report: { readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } } } =
    process.report.getReport()
  const soft = report.userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
}
