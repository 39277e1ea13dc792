// npm run bench: compares Geofix with other libraries in one run on the same input. Only ratios are meaningful: absolute
// figures depend on the machine. Prints progress to standard error, and the report to standard output.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { optionsOrUsage } from '../usage.ts'
import { type BenchOptions, FULL, parseOptions, QUICK, USAGE } from './options.ts'
import { guideWithFigures, jsonReport, markdownReport, type Report, thisMachine } from './report.ts'
import type { Row } from './row.ts'
import {
  accessLog,
  columns,
  firstOfCommand,
  reportBesideScript,
  scripted,
  sketched,
} from './scenarios/defaults.ts'
import { enrichments, enrichReport } from './scenarios/enrich.ts'
import { partitions, steadyProcessorTime } from './scenarios/enrich-processor.ts'
import { http } from './scenarios/http.ts'
import { eventLoop, memory, opening } from './scenarios/opening.ts'
import { cold, edge, firstAnswer, random, sizes, warm } from './scenarios/packed.ts'
import { readers } from './scenarios/readers.ts'
import { importing, starting, threads } from './scenarios/start.ts'
import {
  bulk,
  firstPass,
  hostile,
  ipv6Networks,
  randomIPv4,
  randomIPv6,
  request,
  skewedIPv4,
} from './scenarios/throughput.ts'
import { type Scenario, Stage } from './stage.ts'

const SCENARIOS: readonly Scenario[] = [
  ...[randomIPv4, skewedIPv4, firstPass, randomIPv6, ipv6Networks, bulk, request, readers],
  ...[opening, memory, eventLoop, hostile],
  ...[importing, starting, threads],
  ...[accessLog, sketched, ...scripted, reportBesideScript, firstOfCommand, columns],
  ...[sizes, firstAnswer, cold, random, warm, edge],
  ...[...enrichments, enrichReport, steadyProcessorTime, partitions],
  http,
]

async function bench({ quick, json, only }: BenchOptions): Promise<void> {
  const scale = quick ? QUICK : FULL
  const stage = await Stage.set(scale)
  // Where this is set, Node reads all of the certificates when it starts: half of the time of an empty process and more.
  delete process.env.NODE_EXTRA_CA_CERTS
  const rows: Row[] = []
  const report = (): Report => ({
    date: new Date().toISOString().slice(0, 10),
    mode: quick ? 'quick' : 'full',
    scale,
    machine: thisMachine(),
    databases: [stage.subject.database],
    versions: [...stage.versions].sort(),
    rows,
    skipped: [...stage.skipped],
  })
  for (const scenario of SCENARIOS) {
    // --only selects a scenario also if a quick run leaves it out.
    if (!scenario.title.includes(only) || (quick && scenario.onlyInFull && only === '')) continue
    console.error(`${seconds()} ${scenario.title}`)
    rows.push(...(await scenario.run(stage, stage.subject)))
    // A run takes long: one that is interrupted keeps what it has measured.
    if (json !== null) writeFileSync(json, jsonReport(report()))
  }
  console.log(markdownReport(report()))
  console.error(`${seconds()} done`)
}

/** Since the process began. */
function seconds(): string {
  return `${(performance.now() / 1e3).toFixed(0).padStart(4)} s`
}

const GUIDE = join(import.meta.dirname, 'README.md')

const options = optionsOrUsage(parseOptions, USAGE)
if (options !== null && options.guide !== null) {
  writeFileSync(GUIDE, guideWithFigures(readFileSync(GUIDE, 'utf8'), readFileSync(options.guide, 'utf8')))
} else if (options !== null) {
  await bench(options)
}
