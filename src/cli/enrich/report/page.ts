import { createHash } from 'node:crypto'
import { html, Markup } from './markup.ts'
import { STYLE } from './style.ts'

/**
 * A whole document. Its policy forbids whatever is not its own style sheet: scripts, images, connections, forms,
 * and also styles on elements, so that nothing that slipped into the page could do anything.
 */
export function page(title: string, body: Markup): string {
  const policy = `default-src 'none'; style-src '${digest(STYLE)}'; base-uri 'none'; form-action 'none'`
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${Markup.of(STYLE)}</style>
</head>
<body>
${body}
</body>
</html>
`.text
}

function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
