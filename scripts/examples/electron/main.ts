// The main process: it has the database, and answers the windows.
import { fileURLToPath } from 'node:url'
import { app, BrowserWindow, ipcMain } from 'electron'
import { type LookupResult, Resolver } from 'geofix'

const opening = Resolver.open()

// lookupMany gives failures as plain data, which survives the way to the window. Errors lose their class and code on it.
ipcMain.handle(
  'geofix:lookup',
  async (_event, ip: string, locale: string): Promise<LookupResult | undefined> => {
    const geo = await opening
    return geo.lookupMany([ip], { locale })[0]
  },
)

await app.whenReady()
const window = new BrowserWindow({
  webPreferences: {
    preload: fileURLToPath(new URL('./preload.cjs', import.meta.url)),
    contextIsolation: true,
    sandbox: true,
  },
})
await window.loadFile('index.html')
