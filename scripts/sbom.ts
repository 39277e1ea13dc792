// Writes dist/sbom.cdx.json, a CycloneDX list of what the package installs and of what is bundled into it. `npm sbom` makes the
// list of everything in package-lock.json. The build runs this script after tsup, which writes dist/cli.LICENSE.txt.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

interface Component {
  readonly 'bom-ref': string
  readonly scope: string
}

interface Bom {
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

const { npm_execpath: npm } = process.env
const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=library', '--package-lock-only']
const [program, ...first] = npm?.endsWith('.js') ? [process.execPath, npm] : ['npm']
const text = execFileSync(program, [...first, ...args], { encoding: 'utf8', maxBuffer: 2 ** 26 })
// A serial number and a time would make each build another file.
const { serialNumber: _, ...bom }: Bom & { serialNumber: string } = JSON.parse(text)
const { timestamp: __, ...metadata }: Bom['metadata'] & { timestamp?: string } = bom.metadata

const licences = readFileSync('dist/cli.LICENSE.txt', 'utf8')
const bundled = Array.from(
  licences.matchAll(/^(\S+) ([\w.-]+) \(\S+\)$/gm),
  ([, name, version]) => `${name}@${version}`,
)
const missing = bundled.filter((ref) => !bom.components.some((each) => each['bom-ref'] === ref))
if (missing.length > 0)
  throw new Error(`package-lock.json does not have ${missing.join(', ')}: run npm install`)

const components = bom.components
  .filter(({ 'bom-ref': ref, scope }) => scope === 'required' || bundled.includes(ref))
  // npm calls what is bundled a development dependency.
  .map((component) => ({ ...component, scope: 'required', properties: [] }))
const refs = new Set([metadata.component['bom-ref'], ...components.map((each) => each['bom-ref'])])
const dependencies = bom.dependencies
  .filter(({ ref }) => refs.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) }))
writeFileSync(
  'dist/sbom.cdx.json',
  `${JSON.stringify({ ...bom, metadata, components, dependencies }, null, 1)}\n`,
)
