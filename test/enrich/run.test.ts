import { describe, expect, it, vi } from 'vitest'
import { countriesOf } from '../../src/enrich/counting/totals.ts'
import { BadLineError, EnrichError, InputMismatchError } from '../../src/enrich/errors.ts'
import { LocalExecutor } from '../../src/enrich/executor.ts'
import { type EnrichOptions, makePlan } from '../../src/enrich/formats/formats.ts'
import { MissingLineEnd, Run, type RunInput } from '../../src/enrich/run.ts'
import { utf8, worldSet } from './world.ts'

const set = worldSet()

/** An input that gives its text in one chunk. */
function inputOf(name: string, text: string): RunInput {
  const chunks = text === '' ? [] : [utf8(text)]
  return { name, isLive: false, read: async () => chunks.shift() ?? null }
}

/** A run over inputs named a, b, c, and the text that it has written. */
function runOf(texts: readonly string[], options: EnrichOptions = {}, executor = new LocalExecutor()) {
  const run = new Run({
    inputs: texts.map((text, index) => inputOf('abc'.charAt(index), text)),
    plan: (sample) => makePlan(sample, options).plan,
    maxLineBytes: undefined,
    set,
    executor,
  })
  let written = ''
  const write = async (bytes: Uint8Array): Promise<void> => {
    written += Buffer.from(bytes).toString()
  }
  return { run, complete: () => run.read({ write }), written: () => written }
}

describe('Run', () => {
  it('writes one header for several tables, and adds a missing line end', async () => {
    const { run, complete, written } = runOf(
      ['\ufeffip,n\r\n81.2.69.1,1', '\ufeffip,n\r\n10.0.0.1,2\r\n', 'ip,n\n81.2.69.2,3\n'],
      {
        fields: ['city'],
      },
    )
    await complete()
    expect(written()).toBe('\ufeffip,n,city\r\n81.2.69.1,1,London\r\n10.0.0.1,2,\r\n81.2.69.2,3,London\n')
    expect(run.counts).toMatchObject({ lines: 3, resolved: 2, failed: { private: 1 } })
    expect(run).toMatchObject({ format: 'csv', bytesRead: 58, bytesWritten: Buffer.byteLength(written()) })
  })

  it.each([
    [['10.0.0.1\n', '81.2.69.1\n', '81.2.69.1\n']],
    [['ip,n\n10.0.0.1,1\n', 'ip,n\n81.2.69.1,1\n', 'ip,n\n81.2.69.1,1\n']],
  ])('keeps the enricher, and what it knows, for inputs of one plan: %j', async (texts) => {
    const executor = new LocalExecutor()
    const usePlan = vi.spyOn(executor, 'usePlan')
    const { run, complete } = runOf(texts, {}, executor)
    await complete()
    expect(usePlan).toHaveBeenCalledTimes(1)
    expect(run.counts).toMatchObject({ lines: 3, resolved: 2 })
    expect(countriesOf(run.groups[0]).get('GB')?.count).toBe(2)
  })

  it('skips empty inputs among others', async () => {
    const { run, complete, written } = runOf(['', '10.0.0.1\n', ''])
    await complete()
    expect(written()).toBe('{"ip":"10.0.0.1","location":null}\n')
    expect(run.format).toBe('list')
  })

  it('names the input and the line of bad lines, counting a header that was removed', async () => {
    const { run, complete } = runOf(['"i\np",n\n81.2.69.1,1\nx\n', '"i\np",n\n81.2.69.1,1\n\nx\n'], {
      field: '1',
    })
    await complete()
    const message = expect.stringContaining('')
    expect(run.badLines).toEqual([
      { input: 'a', line: 4, message },
      { input: 'b', line: 5, message },
    ])
    expect(run.counts.badLines.map(({ line }) => line)).toEqual([4, 5])
  })

  it('lists the first five bad lines of all inputs', async () => {
    const { run, complete } = runOf(Array<string>(3).fill('{"ip":"10.0.0.1"}\nx\ny\nz\n'), {
      format: 'ndjson',
    })
    await complete()
    expect(run.badLines.map(({ input, line }) => `${input}${line}`)).toEqual(['a2', 'a3', 'a4', 'b2', 'b3'])
  })

  it.each([
    ['a bad line', ['ip,n\n81.2.69.1,1\n', 'ip,n\n81.2.69.1,1\nx\n'], BadLineError, { line: 3 }],
    [
      'an input of another format',
      ['10.0.0.1\n', '{"ip":"10.0.0.1"}\n'],
      InputMismatchError,
      { message: expect.stringMatching(/^b is ndjson, and a is list: /) },
    ],
    [
      'another header',
      ['ip,n\n10.0.0.1,1\n', 'ip,m\n10.0.0.1,1\n'],
      InputMismatchError,
      { message: 'the header of b is not that of a' },
    ],
    ['an input of no format', ['10.0.0.1\n', 'x y z\n'], EnrichError, {}],
  ] as const)('fails at %s, and says which input it is', async (_, texts, kind, fields) => {
    const { run, complete } = runOf(texts, { onBadLine: 'fail' })
    const error = await complete().catch((error: unknown) => error)
    expect(error).toBeInstanceOf(kind)
    expect(error).toMatchObject(fields)
    expect(run.input?.name).toBe('b')
  })

  it('fails at an input with more columns', async () => {
    const { complete } = runOf(['10.0.0.1,1\n', '10.0.0.1,1,2\n'], { header: false, format: 'csv' })
    await expect(complete()).rejects.toThrow(new InputMismatchError('b has 3 columns, and a has 2'))
  })

  it('neither counts nor writes after stop()', async () => {
    const { run, complete, written } = runOf(['10.0.0.1\n'])
    run.stop()
    await complete()
    expect([run.counts.lines, written()]).toEqual([0, ''])
  })

  it('can be stopped after its last line', async () => {
    const { run, complete } = runOf(['10.0.0.1\n'])
    await complete()
    await run.stop()
    expect(run.counts.lines).toBe(1)
  })
})

/** The output for inputs that are given in pieces. */
function joinedInputs(...inputs: readonly (readonly string[])[]): string {
  const lineEnd = new MissingLineEnd()
  let written = ''
  for (const pieces of inputs) {
    lineEnd.begin()
    for (const piece of pieces) written += Buffer.from(lineEnd.before(utf8(piece))).toString() + piece
  }
  return written
}

describe('between two inputs', () => {
  it.each<[string, string[][], string]>([
    ['lines with line ends', [['a\n'], ['b\n']], 'a\nb\n'],
    ['a line without a line end', [['a'], ['b']], 'a\nb'],
    ['line ends of the first input', [['a\r\nb'], ['c']], 'a\r\nb\r\nc'],
    ['the last line end of several', [['a\r\nb\nc'], ['d']], 'a\r\nb\nc\nd'],
    ['pieces of one input', [['a', 'b', '\n', 'c'], ['d']], 'ab\nc\nd'],
    ['empty inputs', [['a'], [''], [], ['b']], 'a\nb'],
    ['an empty input first', [[''], ['b']], 'b'],
  ])('adds only the missing line end: %s', (_, inputs, expected) => {
    expect(joinedInputs(...inputs)).toBe(expected)
  })
})
