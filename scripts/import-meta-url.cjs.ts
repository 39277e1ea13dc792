// Replaces `import.meta.url` in the CommonJS build of the Node entry. See tsup.config.ts.
import { pathToFileURL } from 'node:url'

export const importMetaUrl = pathToFileURL(__filename).href
