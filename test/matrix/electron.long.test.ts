// The Electron example, without Electron's binary: its types, and its processes with messages that are cloned as Electron does.
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { typecheck } from '../package/programs.ts'
import { ROOT, writeProject } from '../package/project.ts'
import { describeMatrix, installTools, MATRIX, run } from './tools.ts'

const project = join(MATRIX, 'projects/electron')

/** What the scripts use of Electron. Messages between processes are structured clones. */
const ELECTRON = `import { MessageChannel } from 'node:worker_threads'
const cloned = (value) => new Promise((resolve, reject) => {
  const { port1, port2 } = new MessageChannel()
  port2.once('message', (message) => { port1.close(); resolve(message) })
  try { port1.postMessage(value) } catch (error) { port1.close(); reject(error) }
})
const handlers = new Map()
export const world = {}
export const app = { whenReady: async () => {} }
export class BrowserWindow { async loadFile() {} }
export const ipcMain = { handle: (channel, handler) => handlers.set(channel, handler) }
export const ipcRenderer = { invoke: async (channel, ...args) => cloned(await handlers.get(channel)({}, ...(await cloned(args)))) }
export const contextBridge = { exposeInMainWorld: (name, api) => { world[name] = api } }
`

describeMatrix('the Electron example', installTools() ? undefined : 'the matrix', () => {
  beforeAll(() => {
    rmSync(project, { recursive: true, force: true })
    cpSync(join(ROOT, 'scripts/examples/electron'), project, { recursive: true })
  })

  it('has the types of Electron', () => {
    writeProject(project, {
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          module: 'esnext',
          moduleResolution: 'bundler',
          strict: true,
          target: 'es2022',
          lib: ['es2023', 'dom', 'dom.iterable'],
          types: [],
          allowImportingTsExtensions: true,
          skipLibCheck: true,
        },
        files: ['main.ts', 'preload.ts', 'renderer.ts'],
      }),
    })
    expect(typecheck(project)).toBe('')
  })

  it('gives the page records and failures', () => {
    writeProject(project, {
      'electron.mjs': ELECTRON,
      'build.mjs': `import { build } from 'esbuild'
const all = { bundle: true, format: 'esm', platform: 'node', external: ['geofix'], alias: { electron: './electron.mjs' }, logLevel: 'error' }
await build({ ...all, entryPoints: ['start.ts'], outfile: 'start.mjs' })`,
      'start.ts': `import './main.ts'
import './preload.ts'
import { world } from './electron.mjs'
console.log(JSON.stringify(await world.geofix.lookup('133.11.93.3', 'de')))
console.log(JSON.stringify(await world.geofix.lookup('10.0.0.1', 'de')))
console.log(await world.geofix.lookup('8.8.8.8', 'not a locale').catch((error) => error.code))`,
    })
    run(project, process.execPath, 'build.mjs')
    const [found, failed, locale] = run(project, process.execPath, 'start.mjs').split('\n')
    expect(JSON.parse(found ?? '')).toMatchObject({
      ip: '133.11.93.3',
      country: { name: 'Japan' },
      city: 'Chiyoda City',
    })
    expect(JSON.parse(failed ?? '')).toMatchObject({
      error: { code: 'UNRESOLVABLE_ADDRESS', reason: 'private' },
    })
    expect(locale).toBe('INVALID_LOCALE')
  })
})
