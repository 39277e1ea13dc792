// What `import.meta.url` is in the CommonJS build of the Node entry: see tsup.config.ts.
import { pathToFileURL } from 'node:url'

export const importMetaUrl = pathToFileURL(__filename).href
