import cluster from 'node:cluster'
import { once } from 'node:events'
import { ExitStatus, messageLine, type Terminal, writeMessage } from '../terminal.ts'
import type { ServeSettings } from './flags.ts'
import { JsonLog, unblock } from './log.ts'
import { reloadRequests } from './reload-requests.ts'
import type { Running, StopSignal } from './service.ts'

const SIGNALS: readonly StopSignal[] = ['SIGTERM', 'SIGINT']
/** How long the reader of the log may take nothing before the last lines are given up. */
const LOG_END_MS = 250

/**
 * Serves until a signal: `geofix serve`. A second signal ends the process at once. SIGHUP reloads, without a terminal.
 *
 * @throws GeofixError for a database or the keys, CommandFailure when it cannot listen
 */
export async function runServe(settings: ServeSettings, terminal: Terminal): Promise<ExitStatus> {
  const log = new JsonLog(settings.log === 'json' ? terminal.stdout : null)
  const isWorker = settings.workers > 1 && cluster.isWorker
  const reloads = reloadRequests()
  if (isWorker) reloads.obeyPrimary()
  let running: Running
  try {
    running = await start(settings, log)
  } catch (error) {
    await log.end(LOG_END_MS)
    reloads.forget()
    throw error
  }
  // Until now, a signal ended the process at once: there was nothing to finish, and opening a database can wait for ever, for
  // the writer of a named pipe.
  const stop = new AbortController()
  const signal = nextSignal(stop.signal)
  if (!isWorker) {
    const { host, listen, basePath, workers } = settings
    const { port, metricsPort } = running
    const where =
      listen === undefined
        ? `http://${host.includes(':') ? `[${host}]` : host}:${port}${basePath}/`
        : `unix:${listen.path}`
    log.write('listening', { ...(listen ?? { host, port }), metricsPort, workers })
    await writeMessage(terminal.stderr, `listening at ${where}`)
  }
  reloads.serve(async () => {
    if (!isWorker) log.write('reload-asked', { signal: 'SIGHUP' })
    await running.reload()
  })
  const name = await signal
  reloads.ignore()
  const drain = name === 'SIGINT' ? 0 : settings.drainSeconds
  log.write('stopping', { signal: name, drain })
  const late = performance.now() + (drain + settings.graceSeconds) * 1000
  // Ctrl-C reaches workers directly, and then through their primary process. For them that is one signal.
  nextSignal(stop.signal).then(
    () => isWorker || process.exit(ExitStatus.failed),
    () => {},
  )
  await running.stop(name)
  log.write('stopped')
  const unwritten = await log.end(LOG_END_MS, late - performance.now())
  stop.abort()
  reloads.forget()
  if (unwritten > 0) {
    const message = `the last ${unwritten} lines of the log were not written: nobody reads them`
    unblock(terminal.stderr)
    terminal.stderr.write(messageLine(message))
  }
  return ExitStatus.ok
}

async function start(settings: ServeSettings, log: JsonLog): Promise<Running> {
  if (settings.workers > 1) {
    const { startPrimary, startWorker } = await import('./cluster.ts')
    return cluster.isWorker ? startWorker(settings, log) : startPrimary(settings, log)
  }
  const { startService } = await import('./service.ts')
  return startService(settings, log)
}

/** Rejects when `stop` is aborted before a signal. */
function nextSignal(stop: AbortSignal): Promise<StopSignal> {
  const all = SIGNALS.map(async (name) => {
    await once(process, name, { signal: stop })
    return name
  })
  return Promise.race(all)
}
