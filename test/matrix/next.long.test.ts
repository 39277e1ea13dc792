// Builds an application with Next.js, moves its standalone server to an empty folder, and asks it there.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { writeProject } from '../package/project.ts'
import { temporaryFolder } from '../temporary.ts'
import { describeMatrix, installTools, MATRIX, run, toolAt } from './tools.ts'

const NEXT = installTools() ? toolAt('next/dist/bin/next') : undefined
const elsewhere = temporaryFolder()

const FILES: Readonly<Record<string, string>> = {
  'package.json': '{ "private": true }',
  // The folder with node_modules is above the project, as in a monorepo.
  'next.config.mjs': `export default { output: 'standalone', outputFileTracingRoot: ${JSON.stringify(MATRIX)}, turbopack: { root: ${JSON.stringify(MATRIX)} } }`,
  'app/layout.js':
    'export default function Layout({ children }) { return <html><body>{children}</body></html> }',
  'app/page.js': `import { Resolver } from 'geofix'
export const dynamic = 'force-dynamic'
export default async function Page() {
  const geo = await Resolver.open()
  return <p>{geo.lookup('81.2.69.142').city}</p>
}`,
  'app/country/page.js': `import { Resolver } from 'geofix'
import country from 'geofix/country'
export const dynamic = 'force-dynamic'
export default async function Page() {
  const geo = await Resolver.open(country)
  return <p>{geo.lookup('81.2.69.142').country.code}</p>
}`,
  'app/route/route.js': `import { Resolver } from 'geofix'
export const dynamic = 'force-dynamic'
export async function GET() {
  const geo = await Resolver.open()
  return new Response(geo.lookup('81.2.69.142').city)
}`,
  'app/edge/route.js': `import { Resolver } from 'geofix/core'
import country from 'geofix/country'
export const dynamic = 'force-dynamic'
export const runtime = 'edge'
export async function GET() {
  const geo = await Resolver.open(await fetch(country))
  return new Response(geo.lookup('81.2.69.142').country.code)
}`,
}

/** Starts the server of a folder. @returns its origin */
async function started(folder: string): Promise<string> {
  const main = join(folder, 'projects/next/server.js')
  const env = { PATH: process.env.PATH, HOSTNAME: '127.0.0.1', PORT: '0', NEXT_TELEMETRY_DISABLED: '1' }
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  while (!printed.includes('Ready')) await once(child.stdout, 'data')
  const [origin] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed) ?? []
  if (origin === undefined) throw new Error(`the server names no origin: ${printed}`)
  return origin
}

describeMatrix('an application of Next.js', NEXT === undefined ? 'Next.js' : undefined, () => {
  it.each(['turbopack', 'webpack'])(
    'needs nothing else with %s, also in the edge runtime',
    async (bundler) => {
      const project = join(MATRIX, 'projects/next')
      const folder = join(elsewhere, bundler)
      rmSync(project, { recursive: true, force: true })
      mkdirSync(project, { recursive: true })
      writeProject(project, FILES)
      run(project, process.execPath, NEXT ?? '', 'build', `--${bundler}`)
      cpSync(join(project, '.next/standalone'), folder, { recursive: true, verbatimSymlinks: true })
      const published = readdirSync(join(project, '.next/static'), { recursive: true, encoding: 'utf8' })
      expect(published.filter((name) => /mmdb|packed/.test(name))).toEqual([])
      rmSync(project, { recursive: true })
      const origin = await started(folder)
      const answers = ['/', '/country', '/route', '/edge'].map(async (path) => {
        const text = await (await fetch(origin + path)).text()
        return /<p>(.*?)<\/p>/.exec(text)?.[1] ?? text
      })
      expect(await Promise.all(answers)).toEqual(['London', 'GB', 'London', 'GB'])
    },
  )
})
