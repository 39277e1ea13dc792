// Apache Spark runs geofix: a standalone cluster of a master and two workers, each a process of its own.
import { type ChildProcess, execFileSync } from 'node:child_process'
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { kill } from 'node:process'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accessLines } from '../../scripts/bench/enrich/access-lines.ts'
import { grow } from '../../scripts/bench/enrich/grown-log.ts'
import {
  commandOf,
  failureOf,
  installSpark,
  killed,
  processesOf,
  SparkCluster,
} from '../../scripts/spark-cluster.ts'
import { valuesIn, words } from '../cli/enrich/command-line.ts'
import { ROOT } from '../package/project.ts'
import { temporaryFolder } from '../temporary.ts'
import { describeEngine, installedOrNull, recipeWith } from './engine.ts'

/** Of the whole log. CI sets less. */
const LINES = Number(process.env.GEOFIX_ENGINE_LINES ?? 5_000_000)
const PARTITIONS = 64
const LONG = { timeout: 1_800_000 }
const FIELDS =
  'country_code,country_name,region_code,region_name,city,postal_code,latitude,longitude,timezone_id,timezone_offset'

const job = (name: string): string => join(import.meta.dirname, 'spark', name)

for (const version of [4, 3] as const) {
  const python = installedOrNull(() => installSpark(version))
  describeEngine(`PySpark ${version}`, python !== null, () => {
    const folder = temporaryFolder()
    const at = (name: string): string => join(folder, name)
    let cluster: SparkCluster

    /** The options of a program that uses the module and the archive. */
    const withGeofix = () =>
      words`--py-files ${at('geofix_locator.py')},${at('geofix_spark.py')} --archives ${at('geofix-worker.tgz')}#geofix`
    const geofix = (...args: readonly string[]): string =>
      execFileSync(process.execPath, [join(ROOT, 'dist/cli.cjs'), ...args], {
        cwd: folder,
        encoding: 'utf8',
        maxBuffer: 2 ** 28,
      })

    beforeAll(async () => {
      geofix('engine', 'spark', folder)
      cluster = await SparkCluster.start(python ?? '', folder, ['one', 'two'])
    })
    afterAll(() => cluster.stop())

    describe('rows that are not as they should be', () => {
      it('get null and are never shifted, and a failure says its reason', async () => {
        const report = await cluster.run([...withGeofix(), job('rows.py')])
        const { checks, message } = JSON.parse(report.slice(report.indexOf('{"checks')))
        expect(Object.keys(checks).length).toBeGreaterThan(15)
        expect(Object.entries(checks).filter(([, isRight]) => isRight !== true)).toEqual([])
        // The reason is in the error of the task, and in the log of the executor, as one line.
        expect(message).toMatch(
          /geofix ended with status 2 before it had answered all rows: geofix: .*--locale/,
        )
        const logs = logsOf(cluster.workFolder('one')) + logsOf(cluster.workFolder('two'))
        expect(logs).toMatch(
          /^geofix ended with status 2 before it had answered all rows: geofix: .*--locale.*$/m,
        )
      })
    })

    it('keeps its process of geofix from task to task, and never one that is out of step', () => {
      mkdirSync(at('archive'))
      execFileSync('tar', ['xzf', at('geofix-worker.tgz'), '-C', at('archive')])
      const report = execFileSync(join(python ?? '', 'bin/python'), [job('reuse.py'), at('archive')], {
        env: { PYTHONPATH: folder },
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const checks = Object.entries(JSON.parse(report))
      expect(checks).toHaveLength(13)
      expect(checks.filter(([, isRight]) => isRight !== true)).toEqual([])
    })

    describe('the module as a program', () => {
      it('writes one row for each row, in every form', async () => {
        const lines = [...grow(accessLines().lines, 500), '', 'nonsense']
        writeFileSync(at('log.txt'), `${lines.join('\n')}\n`)
        const run = async (...args: readonly string[]): Promise<string[]> => {
          const options = ['--archives', `${at('geofix-worker.tgz')}#geofix`, at('geofix_spark.py')]
          await cluster.run([...options, ...args])
          const output = args[args.indexOf('--output') + 1] ?? ''
          return readdirSync(output)
            .filter((name) => name.startsWith('part-'))
            .sort()
            .flatMap((name) => readFileSync(join(output, name), 'utf8').trimEnd().split('\n'))
        }
        const text = words`--input ${at('log.txt')} --format text --output ${at('text')} --output-format json`
        const rows = (await run(...text)).map((line): { value: string; location: object | null } =>
          JSON.parse(line),
        )
        expect(rows.map(({ value }) => value)).toEqual(lines)
        expect(rows.slice(-2).map(({ location }) => location)).toEqual([null, null])
        const expected = valuesIn(geofix(...words`enrich --quiet --format access-log log.txt`))
        expect(rows.slice(0, 500).map(({ location }) => location)).toEqual(
          expected.slice(0, 500).map(({ location }) => location),
        )

        writeFileSync(
          at('rows.ndjson'),
          rows.map((_, id) => `{"id":${id},"client_ip":"81.2.69.${id % 256}"}\n`).join(''),
        )
        const json = words`--input ${at('rows.ndjson')} --format json --output ${at('csv')} --output-format csv`
        const [header = '', ...records] = await run(
          ...json,
          ...words`--at 2026-07-01T00:00:00+00:00 --locale de`,
        )
        expect(header).toMatch(/^client_ip,id,location_country_code,location_country_name,/)
        expect(records).toHaveLength(502)
        expect(records[142]).toMatch(/^81\.2\.69\.142,142,GB,Vereinigtes Königreich,.*,\+01:00$/)
      })

      // One version is enough for what the two above have shown.
      if (version === 3) return
      it('is what the program of the guide imports', async () => {
        const program = recipeWith('from geofix_spark import')
        const events = `spark.createDataFrame([("81.2.69.142",), ("8.8.8.8",)], "client_ip string").selectExpr("*", "now() AS ts")`
        const write = `${events}.write.parquet("events.parquet")\n`
        writeFileSync(at('job.py'), program.replace(/^located = /m, `${write}$&`))
        expect(await cluster.run([...withGeofix(), at('job.py')])).toMatch(/\|London\| +1\|/)
      })
    })

    // The large log is for one version, since it takes long.
    if (version === 3) return
    describe(`a log of ${LINES} lines in ${PARTITIONS} partitions`, () => {
      let expected = ''
      beforeAll(async () => {
        await pipeline(
          Readable.from(blocksOf(grow(accessLines().lines, LINES))),
          createWriteStream(at('access.log')),
        )
        const files = words`access.log -o single.log`
        geofix(...words`enrich --quiet --format access-log --append --fields ${FIELDS}`, ...files)
        expected = sorted(at('single.log'))
      })

      /** The program that writes the log with locations to a folder, in one of the ways of the module. */
      const whole = (way: string, output: string): string[] => [
        ...withGeofix(),
        ...[job('whole.py'), way, at('access.log'), output, String(PARTITIONS)],
      ]

      /** Starts this program, and disturbs it when it has done two fifths. @returns its standard error */
      async function disturbed(
        way: string,
        output: string,
        disturb: () => void | Promise<void>,
        options: readonly string[] = [],
      ): Promise<string> {
        const { process, done } = cluster.submit([...options, ...whole(way, output)])
        while (tasksOf(output) < 0.4 * PARTITIONS) {
          if (process.exitCode !== null) throw failureOf(await done)
          await wait(50)
        }
        expect(tasksOf(output)).toBeLessThan(PARTITIONS)
        await disturb()
        const { status, err } = await done
        expect(status).toBe(0)
        expect(sorted(output)).toBe(expected)
        return err
      }

      it.each(['enrich', 'enrich_lines', 'transform'])('%s: the rows of a single run', LONG, async (way) => {
        await cluster.run(whole(way, at(way)))
        expect(sorted(at(way))).toBe(expected)
        rmSync(at(way), { recursive: true })
      })

      it('enrich: the same, although a worker is killed at 40%', LONG, async () => {
        const err = await disturbed('enrich', at('killed'), () => cluster.killWorker('two'))
        expect(err).toContain('Lost executor')
        await cluster.startWorker('two')
      })

      it('enrich: the same with speculation, which runs a task again that is stuck', LONG, async () => {
        let stuck: number[] = []
        const options = words`--conf spark.speculation=true --conf spark.speculation.quantile=0.3`
        const stop = () => {
          stuck = [...cluster.workers.values()].slice(0, 1).flatMap(geofixesOf)
          expect(stuck.length).toBeGreaterThan(0)
          // Nothing continues these: only another run of their tasks can end the stage.
          for (const pid of stuck) kill(pid, 'SIGSTOP')
        }
        await disturbed('enrich', at('speculative'), stop, options).finally(() => {
          for (const pid of stuck) killed(pid)
        })
      })

      it('enrich_lines: the same, although a process of geofix is killed', LONG, async () => {
        const err = await disturbed('enrich_lines', at('again'), async () => {
          const geofixes = [...cluster.workers.values()].flatMap(geofixesOf)
          expect(geofixes.length).toBeGreaterThan(0)
          // A stopped process makes its task wait, so that it is in the middle of a task when it is killed.
          for (const pid of geofixes) kill(pid, 'SIGSTOP')
          await wait(5000)
          for (const pid of geofixes) killed(pid)
        })
        expect(err).toContain('geofix ended with status -9 before it had answered all rows')
      })
    })
  })
}

/** The processes of geofix that a worker's executors have started. */
function geofixesOf({ pid }: ChildProcess): number[] {
  return processesOf(pid ?? -1).filter((each) => commandOf(each).includes('geofix/dist/cli.cjs'))
}

/** What the executors of a worker have written to standard error. */
function logsOf(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('stderr'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('')
}

/** How many tasks have committed their part of an output. */
function tasksOf(output: string): number {
  const attempts = join(output, '_temporary/0')
  return existsSync(attempts) ? readdirSync(attempts).filter((name) => name.startsWith('task_')).length : 0
}

/** The SHA-256 of the sorted lines of a file, or of all parts in a folder. */
function sorted(path: string): string {
  const statement =
    '(if [ -d "$0" ]; then cat "$0"/part-*; else cat "$0"; fi) | LC_ALL=C sort -S 512M | sha256sum'
  return execFileSync('bash', ['-c', `set -o pipefail; ${statement}`, path], { encoding: 'utf8' })
}

function* blocksOf(lines: Iterable<string>): Generator<string> {
  let block: string[] = []
  for (const line of lines) {
    if (block.push(line) < 10_000) continue
    yield `${block.join('\n')}\n`
    block = []
  }
  if (block.length > 0) yield `${block.join('\n')}\n`
}
