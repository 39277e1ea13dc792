// npm run bench: Geofix beside what else there is, in one run on the same input. Only ratios mean something: the
// figures themselves are the machine's. Progress goes to standard error, the report to standard output.
import { writeFileSync } from 'node:fs'
import { thisMachine } from './machine.ts'
import { type BenchOptions, parseOptions, USAGE } from './options.ts'
import { jsonReport, markdownReport, type Report } from './report.ts'
import type { Row } from './row.ts'
import { FULL, QUICK } from './scale.ts'
import { bulk } from './scenarios/bulk.ts'
import { enrichAccessLog, enrichNdjson } from './scenarios/enrich.ts'
import { eventLoop } from './scenarios/event-loop.ts'
import { firstPass } from './scenarios/first-pass.ts'
import { hostile } from './scenarios/hostile.ts'
import { ipv6Networks, randomIPv4, randomIPv6, skewedIPv4 } from './scenarios/lookup.ts'
import { memory } from './scenarios/memory.ts'
import { opening } from './scenarios/opening.ts'
import { request } from './scenarios/request.ts'
import type { Scenario } from './scenarios/scenario.ts'
import { Stage } from './stage.ts'

const SCENARIOS: readonly Scenario[] = [
  ...[randomIPv4, skewedIPv4, firstPass, randomIPv6, ipv6Networks, bulk, request],
  ...[opening, memory, eventLoop, hostile, enrichNdjson, enrichAccessLog],
]

async function bench({ quick, json, only }: BenchOptions): Promise<void> {
  const scale = quick ? QUICK : FULL
  const stage = await Stage.set(scale)
  const rows: Row[] = []
  for (const subject of stage.subjects) {
    for (const scenario of SCENARIOS) {
      // What takes too long for a quick run is still had by its name.
      if (!scenario.title.includes(only) || (quick && scenario.onlyInFull && only === '')) continue
      console.error(`${seconds()} ${subject.database.name}: ${scenario.title}`)
      rows.push(...(await scenario.run(stage, subject)))
    }
  }
  const report: Report = {
    date: new Date().toISOString().slice(0, 10),
    mode: quick ? 'quick' : 'full',
    scale,
    machine: thisMachine(),
    databases: stage.subjects.map(({ database }) => database),
    versions: [...stage.versions].sort(),
    rows,
    skipped: [...stage.skipped],
  }
  console.log(markdownReport(report))
  if (json !== null) writeFileSync(json, jsonReport(report))
  console.error(`${seconds()} done`)
}

/** Since the process began. */
function seconds(): string {
  return `${(performance.now() / 1e3).toFixed(0).padStart(4)} s`
}

function optionsOrUsage(): BenchOptions | null {
  try {
    const options = parseOptions(process.argv.slice(2))
    if (!options.help) return options
    console.log(USAGE)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    console.error(`${error.message}\n\n${USAGE}`)
    process.exitCode = 2
  }
  return null
}

const options = optionsOrUsage()
if (options !== null) await bench(options)
