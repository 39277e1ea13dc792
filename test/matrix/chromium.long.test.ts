// The example page, built by Vite from the tarball, in Chromium: scripts/examples/browser.
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { extname, join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { MmdbWriter } from '../../src/writer.ts'
import { portOf } from '../listening.ts'
import { ROOT } from '../package/project.ts'
import { describeMatrix, installTools, MATRIX, run, toolAt } from './tools.ts'

const PROGRAM = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) => existsSync(path))
const missing = PROGRAM === undefined ? 'chromium' : installTools() ? undefined : 'the matrix'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.gz': 'application/gzip',
}

let browser: Browser
const servers: Server[] = []

beforeAll(async () => {
  if (missing !== undefined) return
  browser = await chromium.launch({ executablePath: PROGRAM ?? '', args: ['--no-sandbox'] })
})

afterAll(async () => {
  for (const server of servers) server.close()
  await browser?.close()
})

interface Serving {
  /** Whether databases are sent as compressed pages are, which the browser decompresses. */
  readonly encoded?: boolean
  /** Whether the page is cross-origin isolated. */
  readonly isolated?: boolean
}

const PAGE = join(MATRIX, 'projects/page/scripts/examples/browser/dist')

/** Serves a built page. @returns its URL */
async function serve({ encoded = false, isolated = true }: Serving, folder = PAGE): Promise<string> {
  const server = createServer((request, response) => {
    const path = join(folder, request.url === '/' ? 'index.html' : (request.url ?? ''))
    if (!existsSync(path) || !statSync(path).isFile()) {
      response.writeHead(404).end()
      return
    }
    response.setHeader('content-type', TYPES[extname(path)] ?? 'application/octet-stream')
    response.setHeader(
      'content-security-policy',
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; worker-src 'self'",
    )
    if (isolated) {
      response.setHeader('cross-origin-opener-policy', 'same-origin')
      response.setHeader('cross-origin-embedder-policy', 'require-corp')
    }
    if (encoded && path.endsWith('.gz')) response.setHeader('content-encoding', 'gzip')
    response.setHeader('content-length', statSync(path).size)
    response.end(readFileSync(path))
  })
  servers.push(server)
  return `http://127.0.0.1:${await portOf(server)}/`
}

/** Opens the page. Errors on it, such as what its policy forbids, fail the test when it closes the page. */
async function visit(url: string): Promise<{ page: Page; close: () => Promise<void> }> {
  const page = await browser.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('favicon')) errors.push(message.text())
  })
  await page.goto(url)
  const close = async () => {
    expect(errors).toEqual([])
    await page.close()
  }
  return { page, close }
}

const record = async (page: Page): Promise<Record<string, unknown>> =>
  JSON.parse((await page.textContent('#record')) ?? '')
const opened = (page: Page, type: string) =>
  page.waitForFunction(
    (name) => document.querySelector('#status')?.textContent?.startsWith(`${name} opened`),
    type,
    { timeout: 60_000 },
  )

/** Builds a page with Vite. */
const buildPage = (project: string): string =>
  run(project, process.execPath, toolAt('vite/bin/vite.js') ?? '', 'build', '--logLevel', 'error')

describeMatrix('the example page in Chromium', missing, () => {
  beforeAll(() => {
    // The example names two files of src by relative paths.
    const project = join(MATRIX, 'projects/page')
    rmSync(project, { recursive: true, force: true })
    cpSync(join(ROOT, 'scripts/examples'), join(project, 'scripts/examples'), { recursive: true })
    cpSync(join(ROOT, 'src/cli/report'), join(project, 'src/cli/report'), { recursive: true })
    buildPage(join(project, 'scripts/examples/browser'))
  })

  it.each<[string, Serving]>([
    ['as files, isolated', {}],
    ['with Content-Encoding', { encoded: true }],
    ['not isolated', { isolated: false }],
  ])('answers from both databases, on its thread and in a worker: %s', async (_, serving) => {
    const { page, close } = await visit(await serve(serving))
    await opened(page, 'Geofix-Country')
    expect(await record(page)).toMatchObject({ country: { code: 'JP', name: 'Japan' }, city: null })
    await page.selectOption('#database', 'city')
    await opened(page, 'Geofix-City')
    expect(await record(page)).toMatchObject({ city: 'Chiyoda City' })
    await page.selectOption('#locale', 'ja')
    await expect.poll(async () => (await record(page)).region).toMatchObject({ name: '東京都' })
    await page.check('#worker')
    await page.fill('#address', '2a00:1450:4009::1')
    await expect.poll(async () => (await record(page)).city, { timeout: 60_000 }).toBe('London')
    await page.fill('#address', '10.0.0.1')
    await expect.poll(() => page.textContent('#record')).toContain('private')
    await close()
  })

  it("answers from Vite's development server", async () => {
    const server = spawn(
      process.execPath,
      [toolAt('vite/bin/vite.js') ?? '', '--port', '0', '--clearScreen', 'false'],
      {
        cwd: join(MATRIX, 'projects/page/scripts/examples/browser'),
        env: { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: '1' },
      },
    )
    onTestFinished(() => void server.kill())
    // Both are read until it ends: with a closed output, its next line would end it.
    let said = ''
    for (const output of [server.stdout, server.stderr]) output.on('data', (chunk) => (said += chunk))
    const url = await vi.waitFor(
      () => /http:\S+\//.exec(said)?.[0] ?? Promise.reject(new Error(`Vite does not listen: ${said}`)),
      { timeout: 60_000 },
    )
    const { page, close } = await visit(url)
    await opened(page, 'Geofix-Country')
    await page.selectOption('#database', 'city')
    await opened(page, 'Geofix-City')
    expect(await record(page)).toMatchObject({ city: 'Chiyoda City' })
    await close()
  })

  it('works without a network after it was loaded', async () => {
    const url = await serve({})
    const { page } = await visit(url)
    await opened(page, 'Geofix-Country')
    await page.waitForSelector('[data-offline=ready]', { state: 'attached' })
    await page.context().setOffline(true)
    servers.pop()?.close()
    await page.reload()
    await opened(page, 'Geofix-Country')
    expect(await record(page)).toMatchObject({ country: { code: 'JP' } })
    await page.context().setOffline(false)
    await page.close()
  })

  it('opens a database that is dropped on it', async () => {
    const { page, close } = await visit(await serve({}))
    await opened(page, 'Geofix-Country')
    const bytes = new MmdbWriter({ databaseType: 'Mine' })
      .insert('133.11.0.0/16', { country: { iso_code: 'NZ' } })
      .toBytes()
    const drop = (content: number[]) =>
      page.evaluate((numbers) => {
        const data = new DataTransfer()
        data.items.add(new File([new Uint8Array(numbers)], 'mine.mmdb'))
        document
          .querySelector('#drop')
          ?.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true }))
      }, content)
    await drop([...bytes])
    await opened(page, 'Mine')
    expect(await record(page)).toMatchObject({ country: { code: 'NZ', name: 'New Zealand' } })
    await drop([1, 2, 3])
    await expect.poll(() => page.textContent('#status')).toContain('it is not a MaxMind DB file')
    await close()
  })
})

/** Builds a page that starts the worker of the guide. @returns the folder with the built page */
function buildEnrichPage(): string {
  const guide = readFileSync(join(ROOT, 'src/bundler/README.md'), 'utf8')
  const [, worker] = /```js\n(\/\/ enrich-worker\.js\.[^`]+)```/.exec(guide) ?? []
  if (worker === undefined) throw new Error('src/bundler/README.md has no enrich-worker.js')
  const project = join(MATRIX, 'projects/enrich-page')
  rmSync(project, { recursive: true, force: true })
  mkdirSync(project, { recursive: true })
  const files = {
    'index.html': '<!doctype html><title>enrich</title><script type="module" src="./main.js"></script>',
    'main.js': `
      const worker = new Worker(new URL('./enrich-worker.js', import.meta.url), { type: 'module' })
      window.enrich = (file) => new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data)
        worker.onerror = ({ message }) => reject(new Error(message))
        worker.postMessage(file)
      })`,
    'enrich-worker.js': worker,
    'vite.config.js': `
      import { rollup as geofix } from 'geofix/bundler'
      export default { base: './', plugins: [geofix()], build: { assetsInlineLimit: 0 }, worker: { format: 'es' } }`,
    'package.json': '{ "type": "module" }',
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(project, name), content)
  buildPage(project)
  return join(project, 'dist')
}

describeMatrix('enrich in a web worker, as the guide has it', missing, () => {
  it('enriches a file while the page goes on', async () => {
    const { page, close } = await visit(await serve({}, buildEnrichPage()))
    const LINES = 400_000
    const { ticks, lines, resolved, first, last } = await page.evaluate(async (count) => {
      const text = Array.from({ length: count }, (_, n) => `{"n":${n},"ip":"81.2.69.${n % 256}"}\n`).join('')
      let counted = 0
      const timer = setInterval(() => counted++, 1)
      const { file, summary } = await Reflect.get(window, 'enrich')(new File([text], 'events.ndjson'))
      clearInterval(timer)
      const written = (await file.text()).split('\n')
      const [begin, end] = [JSON.parse(written[0]), JSON.parse(written.at(-2))]
      return { ticks: counted, lines: summary.lines, resolved: summary.resolved, first: begin, last: end }
    }, LINES)
    expect({ lines, resolved }).toEqual({ lines: LINES, resolved: LINES })
    for (const [record, n] of [
      [first, 0],
      [last, LINES - 1],
    ] as const) {
      expect(record).toMatchObject({ n, location: { country: { code: 'GB' } } })
    }
    // Were the page to do the work itself without a pause, its timer would not tick before the end.
    expect(ticks).toBeGreaterThan(10)
    await close()
  })
})
