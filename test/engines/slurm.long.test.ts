// Slurm with two nodes runs geofix on 16 parts of a log, as the guide says. One node is killed.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ROOT } from '../package/project.ts'
import { temporaryFolder } from '../temporary.ts'
import { describeEngine, expectSameBytes, hasCommand, writeLogAndCommands } from './engine.ts'

/** The daemons of nodes need root. */
const isThere =
  process.getuid?.() === 0 && ['munged', 'slurmctld', 'slurmd', 'sbatch', 'squeue'].every(hasCommand)

const guide = readFileSync(join(ROOT, 'src/engines/README.md'), 'utf8')
const SPLIT = /^split .*/m.exec(guide)?.[0] ?? ''
const SUBMIT = /^sbatch [\s\S]*?(?=\n```)/m.exec(guide)?.[0] ?? ''

describeEngine('Slurm', isThere, () => {
  const folder = temporaryFolder()
  const env = {
    ...process.env,
    SLURM_CONF: join(folder, 'slurm.conf'),
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
  }
  const bash = (statement: string): string =>
    execFileSync('bash', ['-c', statement], { cwd: folder, env, encoding: 'utf8' })
  const daemons: ChildProcess[] = []
  const daemon = (file: string, ...args: readonly string[]): ChildProcess => {
    const child = spawn(file, args, { cwd: folder, env, stdio: 'ignore' })
    daemons.push(child)
    return child
  }
  let node = daemons[0]

  beforeAll(async () => {
    // A job of the first node stops in the middle of its part, so that the node is killed before it is done.
    writeLogAndCommands(
      folder,
      (geofix) => `if [ "$SLURMD_NODENAME" = one ] && mkdir '${folder}/stopped' 2>/dev/null; then
  echo $PPID > '${folder}/stopped/script'
  exec 3<&0
  (head -c 600000 <&3; sleep 100) | '${geofix}' "$@"
fi
`,
    )
    bash(SPLIT)
    writeFileSync(join(folder, 'munge.key'), randomBytes(1024), { mode: 0o600 })
    writeFileSync(join(folder, 'slurm.conf'), configuration(folder))
    for (const name of ['state', 'one', 'two']) mkdirSync(join(folder, name))
    const munge = ['socket', 'key-file', 'pid-file', 'log-file', 'seed-file'].map(
      (name) => `--${name}=${join(folder, name === 'key-file' ? 'munge.key' : `munge.${name}`)}`,
    )
    daemon('munged', '--foreground', '--force', ...munge)
    while (!existsSync(join(folder, 'munge.socket'))) await wait(50)
    daemon('slurmctld', '-D')
    node = daemon('slurmd', '-D', '-N', 'one')
    daemon('slurmd', '-D', '-N', 'two')
    const idle = (): string => spawnSync('sinfo', ['-h', '-o', '%D %t'], { env, encoding: 'utf8' }).stdout
    for (let tries = 0; idle() !== '2 idle\n'; tries++) {
      if (tries > 300) throw new Error(`Slurm does not start: ${idle()}`)
      await wait(200)
    }
  })
  afterAll(() => {
    for (const child of daemons.reverse()) child.kill('SIGKILL')
  })

  it('gives the bytes of a single run, although a node was killed', async () => {
    expect(bash('ls part-?? | wc -l').trim()).toBe('16')
    bash(SUBMIT)
    const script = join(folder, 'stopped/script')
    while (!existsSync(script) || readFileSync(script, 'utf8') === '') await wait(50)
    await wait(3000)
    node?.kill('SIGKILL')
    // What runs on the node dies with it: the job's processes and the daemon that watches them.
    const job = Number(readFileSync(script, 'utf8'))
    const parent = Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${job}/stat`, 'utf8'))?.[1])
    expect(readFileSync(`/proc/${parent}/comm`, 'utf8')).toMatch(/^slurmstepd/)
    process.kill(parent, 'SIGKILL')
    process.kill(-job, 'SIGKILL')

    while (bash('squeue -h') !== '') {
      // Slurm does a job again after two minutes: this is the only thing that is made faster here.
      bash('for id in $(squeue -h -t PD -o %i); do scontrol update jobid=$id starttime=now || :; done 2>&1')
      await wait(1000)
    }
    expect(bash('ls part-??.done | wc -l').trim()).toBe('16')
    bash('cat part-??.done > places.log')
    bash('geofix enrich --rows --format access-log --append < access.log > single.log')
    expectSameBytes(folder)
    // The part was begun twice, and the first begin has left what it wrote.
    expect(bash('ls part-??.0').trim()).toMatch(/^part-..\.0$/)
  })
})

/** A cluster of two nodes on this machine, all of whose files are in a folder. */
function configuration(folder: string): string {
  const port = 20_000 + (process.pid % 10_000) * 3
  return `
ClusterName=parts
SlurmctldHost=${hostname()}(127.0.0.1)
SlurmctldPort=${port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=${folder}/munge.socket
StateSaveLocation=${folder}/state
SlurmctldPidFile=${folder}/slurmctld.pid
SlurmdPidFile=${folder}/%n.pid
SlurmdSpoolDir=${folder}/%n
SlurmctldLogFile=${folder}/slurmctld.log
SlurmdLogFile=${folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SlurmdTimeout=10
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=one NodeHostname=${hostname()} NodeAddr=127.0.0.1 Port=${port + 1} CPUs=1
NodeName=two NodeHostname=${hostname()} NodeAddr=127.0.0.1 Port=${port + 2} CPUs=1
PartitionName=all Nodes=one,two Default=YES MaxTime=INFINITE State=UP
`
}
