// A broker of Kafka that is its own controller (KRaft).
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { installMaven } from '../../scripts/engine-packages.ts'
import { freePort } from '../../scripts/free-port.ts'
import { hasCommand, installedOrNull } from './engine.ts'

/** The jars of Kafka, or `null` if they cannot be installed. */
export function installedKafka(): string | null {
  return hasCommand('java')
    ? installedOrNull(() => installMaven('kafka', ['org.apache.kafka:kafka_2.13:4.1.0']))
    : null
}

export class Broker {
  #process: ChildProcess | undefined

  private constructor(
    readonly jars: string,
    readonly folder: string,
    readonly servers: string,
  ) {}

  /** @param folder for its files */
  static async start(jars: string | null, folder: string): Promise<Broker> {
    const [port, controller] = [await freePort(), await freePort()]
    const broker = new Broker(jars ?? '', folder, `127.0.0.1:${port}`)
    writeFileSync(broker.#at('server.properties'), properties(port, controller, broker.#at('kafka')))
    const format = ['-cp', `${jars}/*`, 'kafka.tools.StorageTool', 'format', '-t', 'MkU3OEVBNTcwNTJENDM2Qg']
    execFileSync('java', [...format, '-c', broker.#at('server.properties')], { stdio: 'ignore' })
    await broker.restart()
    return broker
  }

  async restart(): Promise<void> {
    const options = ['-Xmx512m', '-cp', `${this.jars}/*`, 'kafka.Kafka', this.#at('server.properties')]
    this.#process = spawn('java', options, { stdio: ['ignore', 'pipe', 'pipe'] })
    const log = createWriteStream(this.#at('broker.log'), { flags: 'a' })
    this.#process.stdout?.pipe(log)
    this.#process.stderr?.pipe(log)
    // Nothing is to be lost while it starts: clients wait for it.
    await wait(1000)
  }

  async kill(): Promise<void> {
    const process = this.#process
    if (process === undefined || process.exitCode !== null) return
    process.kill('SIGKILL')
    await once(process, 'exit')
  }

  get log(): string {
    return readFileSync(this.#at('broker.log'), 'utf8')
  }

  #at(name: string): string {
    return join(this.folder, name)
  }
}

function properties(port: number, controller: number, folder: string): string {
  return `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controller}
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controller}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs=${folder}
num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
`
}
