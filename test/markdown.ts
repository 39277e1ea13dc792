import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The anchors of a document, as GitHub makes them of its headings. */
function anchorsOf(text: string): string[] {
  const headings = Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
  return headings.concat(Array.from(text.matchAll(/<a id="([^"]+)">/g), ([, id = '']) => id))
}

/**
 * The relative links of a document that lead nowhere: to a file that is not in the folder, or to an anchor that a document
 * does not have.
 *
 * @param textOf reads a document by its path in the folder
 */
export function deadLinks(folder: string, document: string, textOf: (document: string) => string): string[] {
  const links = Array.from(textOf(document).matchAll(/\]\(([^)\s]+)\)/g), ([, link = '']) => link)
  return links.filter((link) => {
    if (/^https?:/.test(link)) return false
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? document : join(dirname(document), path)
    if (!existsSync(join(folder, target))) return true
    return anchor !== undefined && !anchorsOf(textOf(target)).includes(anchor)
  })
}
