// The manifests of scripts/examples/fleet: valid for Kubernetes, and true of the command.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../package/project.ts'
import { makeFile, temporaryFolder } from '../../temporary.ts'
import { startServe } from './process.ts'
import { writeFiles } from './running.ts'

const MANIFESTS = join(ROOT, 'scripts/examples/fleet/kubernetes.yaml')
const VALIDATOR = 'kubernetes-validate==1.37.0'
const PACKAGES = join(ROOT, '.cache/kubernetes')

const python = (args: readonly string[]) =>
  spawnSync('python3', args, { encoding: 'utf8', env: { ...process.env, PYTHONPATH: PACKAGES } })

function isInstalled(): boolean {
  if (!existsSync(PACKAGES)) python(['-m', 'pip', 'install', '--quiet', '--target', PACKAGES, VALIDATOR])
  return python(['-c', 'import kubernetes_validate, yaml']).status === 0
}

const hasValidator = isInstalled()
if (!hasValidator)
  console.warn('kubernetes-validate is not installed: the tests of the manifests are skipped')

const folder = temporaryFolder()

/** Prints the deployment of the service as JSON. */
const TO_JSON = `import json, sys, yaml
for each in yaml.safe_load_all(open(sys.argv[1])):
  if (each['kind'], each['metadata']['name']) == ('Deployment', 'geofix'): print(json.dumps(each))`

describe.skipIf(!hasValidator)(
  'the manifests, if kubernetes-validate is not installed this is skipped,',
  () => {
    it.each(['1.29', '1.33', '1.37'])(
      'are those of Kubernetes %s, without a member that it does not know',
      (version) => {
        const { status, stdout, stderr } = python([
          '-m',
          'kubernetes_validate',
          '--strict',
          '-k',
          version,
          MANIFESTS,
        ])
        expect(stdout + stderr).not.toMatch(/ERROR|FAILED/i)
        expect(status).toBe(0)
        const wrong = makeFile(
          join(folder, 'wrong.yaml'),
          readFileSync(MANIFESTS, 'utf8').replace('livenessProbe:', 'livelinessProbe:'),
        )
        expect(python(['-m', 'kubernetes_validate', '--strict', '-k', version, wrong]).status).not.toBe(0)
      },
    )

    it('start the service with their arguments, and probe what it answers', async () => {
      const { spec } = JSON.parse(python(['-c', TO_JSON, MANIFESTS]).stdout)
      const { terminationGracePeriodSeconds, containers } = spec.template.spec
      const [{ ports, startupProbe, readinessProbe, livenessProbe, ...container }] = containers
      const given: readonly string[] = container.args
      const { keys, database } = writeFiles(folder)
      const args = given.map((arg) =>
        arg.replace('/keys/keys.json', keys).replace('redis://geofix-limits:6379', 'redis://127.0.0.1:9'),
      )
      const server = await startServe(...args, '--db', database, '--metrics-port', '0')
      for (const { httpGet } of [startupProbe, readinessProbe, livenessProbe]) {
        expect(httpGet.port).toBe('http')
        expect((await fetch(server.origin + httpGet.path)).status).toBe(200)
      }
      expect(ports).toMatchObject([{ containerPort: 8080 }, { containerPort: 9090 }])
      const drain = Number(args.find((arg) => arg.startsWith('--drain='))?.slice('--drain='.length))
      const defaultGrace = 10
      expect(terminationGracePeriodSeconds).toBeGreaterThan(drain + defaultGrace)
      // Two probes fit into the drain time.
      const { periodSeconds, failureThreshold = 3 } = readinessProbe
      expect(periodSeconds * failureThreshold).toBeLessThan(drain)
    })
  },
)
