// The report in Chromium: what axe-core finds, and whether anything is wider than the page.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeFile, temporaryFolder } from '../../temporary.ts'
import { geofix, writeDatabase } from '../enrich/command-line.ts'

const PROGRAM = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) => existsSync(path))
if (PROGRAM === undefined) console.warn('skipped: chromium is not installed')

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** What `axe.run` resolves to, as far as it is used here. */
interface AxeResult {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly html: string }[]
  }[]
}

/** An access log that fills every card, with 30 long paths, and lines that are private and unreadable. */
function accessLog(): string {
  const lines = Array.from({ length: 600 }, (_, index) => {
    const ip = ['81.2.69.1', '1.0.0.7', '2001:4860::8', '10.0.0.1'][index % 4]
    const day = String(1 + (index % 9)).padStart(2, '0')
    const hour = String(index % 24).padStart(2, '0')
    const path = `/${'a-long-name/'.repeat(index % 12)}${index % 30}`
    return `${ip} - - [${day}/Jul/2026:${hour}:00:00 +0000] "GET ${path} HTTP/1.1" ${[200, 301, 404, 500][index % 4]} 512 "-" "curl"\n`
  })
  return `${lines.join('')}not a line of a log\n`
}

describe.skipIf(PROGRAM === undefined)('the report in a browser', () => {
  const folder = temporaryFolder()
  const report = join(folder, 'report.html')
  let browser: Browser

  beforeAll(async () => {
    const log = makeFile(join(folder, 'access.log'), accessLog())
    const args = ['--db', writeDatabase(folder), '-o', '/dev/null', '--quiet', '--summary', `html=${report}`]
    expect((await geofix(['enrich', log, ...args])).status).toBe(0)
    browser = await chromium.launch({ executablePath: PROGRAM ?? '', args: ['--no-sandbox'] })
  }, 60_000)

  afterAll(async () => {
    await browser?.close()
  })

  it.each([
    [360, 'light'],
    [360, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
    [768, 'light'],
    [1920, 'dark'],
  ] as const)(
    'is accessible and fits the page: %d pixels, %s',
    async (width, colorScheme) => {
      // Only the test may run a script in the page, whose policy forbids all.
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme, bypassCSP: true })
      const errors: string[] = []
      page.on('console', (message) => errors.push(message.text()))
      await page.goto(pathToFileURL(report).href)
      for (const details of await page.$$('details'))
        await details.evaluate((element) => element.setAttribute('open', ''))
      await page.addScriptTag({ path: AXE })
      const { violations } = (await page.evaluate('axe.run()')) as AxeResult
      expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      expect(errors).toEqual([])
      await page.close()
    },
    60_000,
  )

  it('shows the same without being able to run a script', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    const errors: string[] = []
    page.on('console', (message) => errors.push(message.text()))
    await page.goto(pathToFileURL(report).href)
    await page.addScriptTag({ content: 'document.title = "run"' }).catch(() => {})
    expect(await page.title()).toContain('access.log')
    expect(errors.join()).toContain('Content Security Policy')
    await page.close()
  }, 60_000)
})
