// Replaces `import.meta.url` in the CommonJS build. See tsup.config.ts. Like `pathToFileURL` of `node:url`, which the core
// must not import.

/** `undefined` where a bundler has taken the name of the file away. */
export const importMetaUrl = typeof __filename === 'string' ? urlOf(__filename) : undefined

function urlOf(path: string): string {
  const isWindows = /^[a-z]:\\/i.test(path)
  const segments = path.split(isWindows ? '\\' : '/').map(encodeURIComponent)
  return `file://${isWindows ? '/' : ''}${segments.join('/')}`
}
