// The recipes of scripts/examples. The unit file is in unit-file.package.test.ts.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { version } from '../../package.json'
import { ROOT } from '../package/project.ts'

const containerfile = readFileSync(join(ROOT, 'scripts/examples/service/Containerfile'), 'utf8')
const manifests = readFileSync(join(ROOT, 'scripts/examples/fleet/kubernetes.yaml'), 'utf8')

it('the Containerfile and the manifests have the version of the package', () => {
  expect(containerfile).toContain(`RUN npm install --omit=dev geofix@${version}\n`)
  expect(manifests).toContain(`geofix:${version}\n`)
})

it('all containers of the manifests have a seccomp profile', () => {
  const contexts = manifests.match(/^ *securityContext:\n(?: {12}.*\n)+/gm) ?? []
  expect(contexts).toHaveLength(2)
  for (const context of contexts) expect(context).toContain('seccompProfile: { type: RuntimeDefault }')
})
