// Ways of adding locations on Spark, side by side on one cluster: npm run bench:spark -- [--lines N] [--rounds N].
// Prints a table of processor time, which depends less on what else the machine does than wall-clock time.
import { execFileSync } from 'node:child_process'
import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { installMaven } from '../../engine-packages.ts'
import { installSpark, SPARK_VERSION, SparkCluster } from '../../spark-cluster.ts'
import { accessLines, MONTHS } from '../enrich/access-lines.ts'
import { grow } from '../enrich/grown-log.ts'

const ROOT = join(import.meta.dirname, '../../..')
const MAXMIND_DB = 'com.maxmind.db:maxmind-db:3.1.1'

/** The ways, and what the table calls them. */
const WAYS = {
  nothing: 'Spark alone',
  python: '`mapInArrow` that changes nothing',
  columns: '`mapInArrow` that adds one location to all rows',
  java: "a function in Java with MaxMind's reader",
  maxminddb: '`mapInPandas` with maxminddb',
  transform: '`TRANSFORM`',
  pipe: '`RDD.pipe`',
  lines: '`enrich_lines`',
  text: '`enrich_text`, whole lines',
  geofix: '`enrich`',
} as const

type Way = keyof typeof WAYS

/** What spark_rates.py prints of a round: seconds, and processor seconds of each kind of process. */
interface Round {
  readonly way: string
  readonly partitions: number
  readonly rows: number
  readonly seconds: number
  readonly java: number
  readonly python?: number
  readonly geofix?: number
}

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: Object.keys(WAYS).join(',') },
    partitions: { type: 'string', default: '1,2,4,8,16' },
  },
})
const ROUNDS = Number(values.rounds)
/** Of a round. */
const LINES = Number(values.lines)

const folder = mkdtempSync(join(tmpdir(), 'geofix-rates-'))
const at = (name: string): string => join(folder, name)
const geofix = (...args: readonly string[]): string[] => [join(ROOT, 'dist/cli.cjs'), ...args]
/** Processor time of a row. */
const microseconds = ({ rows, java, python = 0, geofix: worker = 0 }: Round): number =>
  ((java + python + worker) / rows) * 1e6

const python = installSpark(4)
const jars = installMaven('maxmind', [MAXMIND_DB])
execFileSync(process.execPath, geofix('engine', 'spark', folder))
execFileSync(process.execPath, geofix('unpack', join(ROOT, 'data/city.mmdb.packed'), '-o', at('city.mmdb')))
mkdirSync(at('archive'))
execFileSync('tar', ['xzf', at('geofix-worker.tgz'), '-C', at('archive')])
const { lines, areReal } = accessLines()
const grown = grow(lines, LINES * ROUNDS)
for (let round = 0; round < ROUNDS; round++)
  await pipeline(Readable.from(first(LINES, grown)), createWriteStream(at(`${round}.log`)))
await pipeline(Readable.from(rowsOf(grow(lines, LINES))), createWriteStream(at('rows.tsv')))
const spark = execFileSync(join(python, 'bin/python'), ['-c', 'import pyspark; print(pyspark.__path__[0])'], {
  encoding: 'utf8',
}).trim()
execFileSync('javac', [
  '-cp',
  `${jars}/*:${spark}/jars/*`,
  '-d',
  at('classes'),
  join(import.meta.dirname, 'Locate.java'),
])
execFileSync('jar', ['cf', at('locate.jar'), '-C', at('classes'), '.'])

const cluster = await SparkCluster.start(python, folder, ['one', 'two'])
try {
  const report = [
    `Spark ${SPARK_VERSION}, ${MAXMIND_DB}, maxminddb 3.2.0, Node ${process.version.slice(1)}, ${cpus()[0]?.model}.`,
  ]
  report.push(
    `${LINES} lines of ${areReal ? 'a real log, grown' : 'a generated log'}, in each of ${ROUNDS} rounds, which have different addresses. The ways take turns in a round, with 4 partitions.`,
    '',
  )
  report.push(
    '| way | first round, µs a row | later rounds, µs a row | of which Spark, Python, Geofix | rows a second per core |',
  )
  report.push('| --- | --- | --- | --- | --- |')
  const ways = values.only.split(',').map((way) => `${way}:4`)
  const cells = values.partitions
    .split(',')
    .filter(Boolean)
    .map((partitions) => `geofix:${partitions}`)
  // `enrich` with four partitions is one of both.
  const rounds = await roundsOf([...new Set([...ways, ...cells])])
  const measured = (item: string): Round[] =>
    rounds.filter(({ way, partitions }) => `${way}:${partitions}` === item)
  for (const item of ways) {
    const ofWay = measured(item)
    const [first = 0, ...later] = ofWay.map(microseconds)
    const parts = (['java', 'python', 'geofix'] as const).map((kind) =>
      middle(ofWay.slice(1).map((round) => ((round[kind] ?? 0) / LINES) * 1e6)).toFixed(2),
    )
    const name = WAYS[item.slice(0, -2) as Way]
    report.push(
      `| ${name} | ${first.toFixed(2)} | ${spread(later)} | ${parts.join(', ')} | ${Math.round(1e6 / middle(later))} |`,
    )
  }
  report.push(
    '',
    `One process of \`geofix enrich --rows\`: ${oneMachine().toFixed(2)} µs a row, its start included.`,
    '',
  )
  report.push('| partitions | `enrich`, later rounds, µs a row |', '| --- | --- |')
  for (const item of cells)
    report.push(`| ${item.slice(7)} | ${spread(measured(item).slice(1).map(microseconds))} |`)
  console.log(report.join('\n'))
} finally {
  cluster.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function roundsOf(items: readonly string[]): Promise<Round[]> {
  const sessions = [...cluster.workers.values()].map(({ pid }) => pid).join(',')
  const out = await cluster.run(
    [
      ...[
        '--conf',
        `spark.executorEnv.DATABASE=${at('city.mmdb')}`,
        '--jars',
        `${at('locate.jar')},${jars}/maxmind-db-3.1.1.jar`,
      ],
      ...[
        '--py-files',
        `${at('geofix_locator.py')},${at('geofix_spark.py')}`,
        '--archives',
        `${at('geofix-worker.tgz')}#geofix`,
      ],
      ...[join(import.meta.dirname, 'spark_rates.py'), items.join(','), values.rounds],
      ...[folder, at('city.mmdb'), at('archive')],
    ],
    { WORKER_SESSIONS: sessions },
  )
  return out
    .split('\n')
    .filter((line) => line.startsWith('{"way"'))
    .map((line): Round => JSON.parse(line))
}

/** Microseconds of processor time a row of one process that reads the same rows from a file. */
function oneMachine(): number {
  const command = geofix(
    'enrich',
    '--rows',
    '--format',
    'tsv',
    '--quoting',
    'none',
    '--field',
    '1',
    '--time-field',
    '2',
  )
  const statement = '{ TIMEFORMAT="%U %S"; time "$0" "$@" < "$ROWS" > /dev/null; } 2> "$TIMES"'
  execFileSync('bash', ['-c', statement, process.execPath, ...command], {
    env: { ...process.env, ROWS: at('rows.tsv'), TIMES: at('times') },
  })
  const seconds = readFileSync(at('times'), 'utf8').trim().split(' ').map(Number)
  return (seconds.reduce((sum, each) => sum + each, 0) / LINES) * 1e6
}

function middle(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN
}

function spread(numbers: readonly number[]): string {
  return `${middle(numbers).toFixed(2)} (${Math.min(...numbers).toFixed(2)} to ${Math.max(...numbers).toFixed(2)})`
}

/** The next lines of a log, which stays open. */
function* first(count: number, lines: Iterator<string>): Generator<string> {
  for (let left = count; left > 0; left--) yield `${lines.next().value}\n`
}

/** The address and the time of each line, in microseconds. */
function* rowsOf(lines: Iterable<string>): Generator<string> {
  for (const line of lines) {
    const [, day = '', month = '', year = '', clock = ''] =
      /\[(\d\d)\/(\w{3})\/(\d{4}):([\d:]{8})/.exec(line) ?? []
    const time = Date.parse(`${year}-${String(MONTHS.indexOf(month) + 1).padStart(2, '0')}-${day}T${clock}Z`)
    yield `${line.slice(0, line.indexOf(' '))}\t${time * 1000}\n`
  }
}
