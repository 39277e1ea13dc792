// The preload script: gives the page one function, and nothing else of Electron. A sandbox loads CommonJS only.
import { contextBridge, ipcRenderer } from 'electron'
import type { LookupResult } from 'geofix'

const api = {
  lookup: (ip: string, locale: string): Promise<LookupResult> =>
    ipcRenderer.invoke('geofix:lookup', ip, locale),
}

export type GeofixApi = typeof api

contextBridge.exposeInMainWorld('geofix', api)
