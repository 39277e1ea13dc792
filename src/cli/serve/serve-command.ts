import cluster from 'node:cluster'
import { ExitStatus, type Terminal, writeMessage } from '../terminal.ts'
import type { ServeSettings } from './flags.ts'
import { JsonLog } from './log.ts'
import type { Running } from './service.ts'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/**
 * Serves until a signal: `geofix serve`. A second signal ends the process at once.
 *
 * @throws GeofixError for a database or the keys, CommandFailure when it cannot listen
 */
export async function runServe(settings: ServeSettings, terminal: Terminal): Promise<ExitStatus> {
  const log = new JsonLog(settings.log === 'json' ? terminal.stdout : null)
  const signal = listenForSignal()
  let running: Running
  try {
    running = await start(settings, log)
  } catch (error) {
    log.flush()
    signal.forget()
    throw error
  }
  if (!cluster.isWorker) {
    const { host } = settings
    const { port, metricsPort } = running
    log.write('listening', { host, port, metricsPort, workers: settings.workers })
    const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}/`
    await writeMessage(terminal.stderr, `listening at ${url}`)
  }
  log.write('stopping', { signal: await signal.name })
  const second = listenForSignal()
  // Ctrl-C reaches workers directly, and then through their primary process. For them that is one signal.
  void second.name.then(() => cluster.isWorker || process.exit(ExitStatus.failed))
  await running.stop()
  second.forget()
  log.write('stopped')
  log.flush()
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

/** Waits for a signal, until `forget` is called. A later signal ends the process. */
function listenForSignal(): { readonly name: Promise<string>; readonly forget: () => void } {
  let forget = () => {}
  const name = new Promise<string>((resolve) => {
    const take = (signal: string) => {
      forget()
      resolve(signal)
    }
    forget = () => {
      for (const each of SIGNALS) process.off(each, take)
    }
    for (const each of SIGNALS) process.on(each, take)
  })
  return { name, forget }
}
