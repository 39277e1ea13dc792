// A standalone cluster of Spark on this machine: a master and workers, each a process of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { installPython } from './engine-packages.ts'
import { freePort } from './free-port.ts'

/** The newest version whose connector for Kafka is on Maven Central. */
export const SPARK_VERSION = '4.2.0'

/**
 * The packages that are tested, which src/engines/README.md tells users to install. Without these versions, pip installs for
 * PySpark 3.5 a NumPy that its pyarrow refuses, and for PySpark 4 a pandas that it warns of.
 */
export const PYSPARK = {
  4: [`pyspark==${SPARK_VERSION}`, 'pyarrow==22.0.0', 'pandas==2.3.3'],
  3: ['pyspark==3.5.9', 'pyarrow==22.0.0', 'pandas==2.3.3', 'setuptools==80.9.0'],
} as const

/** What tests need besides: another reader of databases, and zones. */
const FOR_TESTS = ['maxminddb==3.2.0', 'tzdata==2025.2']

/** @returns the folder of a virtual environment @throws Error if it cannot be installed */
export function installSpark(version: keyof typeof PYSPARK): string {
  return installPython(`pyspark-${version}`, [...PYSPARK[version], ...FOR_TESTS])
}

/** What a program of the cluster did. */
export interface Submitted {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

export class SparkCluster {
  readonly #folder: string
  readonly #env: NodeJS.ProcessEnv
  readonly #home: string
  readonly #port: number
  readonly #processes: ChildProcess[] = []
  /** The worker processes, by name. */
  readonly workers = new Map<string, ChildProcess>()

  private constructor(python: string, folder: string, port: number) {
    this.#folder = folder
    this.#home = join(python, 'lib', readdirSync(join(python, 'lib'))[0] ?? '', 'site-packages/pyspark')
    this.#env = {
      ...process.env,
      SPARK_HOME: this.#home,
      SPARK_LOCAL_IP: '127.0.0.1',
      PYSPARK_PYTHON: join(python, 'bin/python'),
      PYSPARK_DRIVER_PYTHON: join(python, 'bin/python'),
    }
    this.#port = port
  }

  /** @param python a virtual environment with PySpark */
  static async start(python: string, folder: string, workers: readonly string[]): Promise<SparkCluster> {
    const cluster = new SparkCluster(python, folder, await freePort())
    const at = ['--host', '127.0.0.1', '--port', String(cluster.#port), '--webui-port', '0']
    cluster.#class('master', 'org.apache.spark.deploy.master.Master', at)
    await cluster.#until('master', 'New state: ALIVE')
    for (const name of workers) await cluster.startWorker(name)
    return cluster
  }

  /** Starts a worker with one core. */
  async startWorker(name: string): Promise<void> {
    // Spark runs a speculative task on another host only. All addresses of 127.0.0.0/8 are of this machine.
    const host = `127.0.0.${2 + this.workers.size}`
    const options = ['--host', host, '-c', '1', '-m', '2g', '--webui-port', '0']
    options.push('--work-dir', this.workFolder(name), `spark://127.0.0.1:${this.#port}`)
    this.workers.set(name, this.#class(name, 'org.apache.spark.deploy.worker.Worker', options))
    await this.#until(name, 'Successfully registered with master')
  }

  /** Where the executors of a worker run. Their logs are in there. */
  workFolder(name: string): string {
    return join(this.#folder, `work-${name}`)
  }

  /** Kills a worker, its executors and all that they started, as if its host had lost power. */
  killWorker(name: string): void {
    const session = this.workers.get(name)?.pid
    for (const pid of processesOf(session ?? -1)) killed(pid)
    this.workers.delete(name)
  }

  /** Starts a program on the cluster with `spark-submit`. */
  submit(
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
  ): { process: ChildProcess; done: Promise<Submitted> } {
    const options = ['--master', `spark://127.0.0.1:${this.#port}`, '--conf', 'spark.ui.enabled=false']
    const child = spawn(join(this.#home, 'bin/spark-submit'), [...options, ...args], {
      env: { ...this.#env, ...env },
      cwd: this.#folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    this.#processes.push(child)
    const [out, err]: [Buffer[], Buffer[]] = [[], []]
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    const done = new Promise<Submitted>((resolve) => {
      child.on('close', (status) =>
        resolve({ status, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() }),
      )
    })
    return { process: child, done }
  }

  /** Runs a program to its end. @throws Error with the end of its log when it fails */
  async run(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<string> {
    const submitted = await this.submit(args, env).done
    if (submitted.status !== 0) throw failureOf(submitted)
    return submitted.out
  }

  stop(): void {
    for (const { pid } of this.#processes) for (const each of processesOf(pid ?? -1)) killed(each)
  }

  #class(name: string, main: string, args: readonly string[]): ChildProcess {
    const log = createWriteStream(this.#log(name))
    const child = spawn(join(this.#home, 'bin/spark-class'), [main, ...args], {
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    child.stdout.pipe(log)
    child.stderr.pipe(log)
    this.#processes.push(child)
    return child
  }

  #log(name: string): string {
    return join(this.#folder, `${name}.log`)
  }

  async #until(name: string, text: string): Promise<void> {
    for (let tries = 0; tries < 600; tries++) {
      await wait(200)
      try {
        if (readFileSync(this.#log(name), 'utf8').includes(text)) return
      } catch {
        // The log is not there yet.
      }
    }
    throw new Error(`Spark's ${name} does not start: ${readFileSync(this.#log(name), 'utf8').slice(-2000)}`)
  }
}

/** The error for a program that failed, with the lines of its log that say why. */
export function failureOf({ status, out, err }: Submitted): Error {
  const lines = `${out}\n${err}`.split('\n').filter((line) => /Error|Exception|Caused by/.test(line))
  return new Error(`spark-submit ended with status ${status}:\n${lines.slice(0, 20).join('\n')}`)
}

/** The processes of a session, which a detached child begins. Spark moves its own to other groups of the same session. */
export function processesOf(session: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => statOf(pid)[3] === String(session))
}

/** The command line of a process; `''` if it has ended. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** The fields of /proc/PID/stat after the name: state, parent, group, session, … */
function statOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  } catch {
    return []
  }
}

/** Kills a process that may have ended. */
export function killed(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
