/** Milliseconds of processor time that `work` takes. Other programs on the machine hardly change them. */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
