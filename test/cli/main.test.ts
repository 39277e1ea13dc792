// Runs the entry of the command line in this process. test/package/published.package.test.ts runs it as a process.
import { afterEach, expect, it, vi } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }

afterEach(() => {
  vi.resetModules()
  process.exitCode = undefined
})

const STREAMS = [process.stdout, process.stderr]

/** Imports the entry with these arguments. @returns its effects on the process */
async function main(
  args: readonly string[],
  status?: number,
  onWrite: (text: string, done: () => void) => void = () => {},
) {
  const before = STREAMS.map((stream) => stream.listeners('error'))
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text, done) => {
    if (typeof done === 'function') onWrite(String(text), done)
    return true
  })
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => {
    throw new Error('the process has ended')
  })
  vi.spyOn(process, 'argv', 'get').mockReturnValue(['node', 'geofix', ...args])
  if (status !== undefined) vi.doMock('../../src/cli/program.ts', () => ({ run: async () => status }))
  const ended = await import('../../src/cli/main.ts')
    .then((entry) => entry.ended)
    .then(
      () => false,
      (error: unknown) => String(error).includes('the process has ended'),
    )
  vi.doUnmock('../../src/cli/program.ts')
  const [stdout, stderr] = STREAMS.map((stream, index) => {
    const [own] = stream.listeners('error').filter((listener) => !before[index]?.includes(listener))
    if (own === undefined) throw new Error('no listener')
    stream.off('error', own as () => void)
    return (error: Error): unknown => Reflect.apply(own, stream, [error])
  })
  return { stdout, stderr, exit, ended, out: write.mock.calls.map(([text]) => String(text)).join('') }
}

it('runs with the arguments of the process, and exits with its status', async () => {
  const { out, exit, ended } = await main(['--version'])
  expect({ out, ended }).toEqual({ out: `${packageJson.version}\n`, ended: true })
  expect(exit).toHaveBeenCalledWith(0)
})

it.each([
  [['81.2.69.142', '2001:4860:4860::8888'], 0],
  [['81.2.69.142', '1.2.3'], 1],
  [['::1'], 1],
])('looks up %j without the parser of the command line', async (addresses, status) => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const { out, exit } = await main(addresses, 99)
  expect(exit).toHaveBeenCalledWith(status)
  expect(out.includes('"ip":"81.2.69.142"')).toBe(addresses.includes('81.2.69.142'))
})

it.each([
  [['--json', '81.2.69.142']],
  [['lookup']],
  [['81.2.69.142', '--asn']],
  [['cafe']],
  [['help']],
  [[]],
])('parses %j', async (words) => {
  expect((await main(words, 99)).exit).toHaveBeenCalledWith(99)
})

it('exits when the streams have written what they hold', async () => {
  let written = (): void => {}
  vi.spyOn(process.stdout, 'writableLength', 'get').mockReturnValueOnce(5).mockReturnValue(0)
  const ended = main([], 1, (_text, done) => {
    written = done
  })
  await vi.waitFor(() => expect(written.name).not.toBe('written'))
  expect(process.exit).not.toHaveBeenCalled()
  written()
  expect((await ended).exit).toHaveBeenCalledWith(1)
})

it('exits after the stream has said that a write failed', async () => {
  const say = vi.fn()
  vi.spyOn(process.stdout, 'writableLength', 'get').mockImplementation(() => {
    process.nextTick(() => process.nextTick(say))
    return 0
  })
  await main([], 1)
  expect(say).toHaveBeenCalled()
})

it('exits at once after a signal', async () => {
  const { exit, ended } = await main([], 130)
  expect(ended).toBe(true)
  expect(exit).toHaveBeenCalledWith(130)
})

it('exits with 0 if the reader closes the pipe, and with 3 if the output cannot be written', async () => {
  const { stdout, stderr, exit } = await main(['--version'])
  const error = vi.spyOn(console, 'error').mockReturnValue(undefined)
  expect(() => stdout?.(Object.assign(new Error('closed'), { code: 'EPIPE' }))).toThrow('has ended')
  expect(exit).toHaveBeenLastCalledWith(0)
  expect(error).not.toHaveBeenCalled()
  expect(() => stdout?.(Object.assign(new Error('no space'), { code: 'ENOSPC' }))).toThrow()
  expect(error).toHaveBeenCalledWith(
    'geofix: standard output cannot be written: no space is left on the device (ENOSPC)',
  )
  expect(exit).toHaveBeenLastCalledWith(3)
  expect(stderr?.(new Error('closed'))).toBeUndefined()
})

it.each([
  [['verify', '--help'], 1],
  [['enrich', '--explain', '--help'], 0],
])('if the reader closes the pipe, %j exits with %i', async (args, status) => {
  const { stdout, exit } = await main(args)
  expect(() => stdout?.(Object.assign(new Error('closed'), { code: 'EPIPE' }))).toThrow('has ended')
  expect(exit).toHaveBeenLastCalledWith(status)
})
