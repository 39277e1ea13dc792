import MagicString from 'magic-string'
import type { Plugin } from 'vitest/config'

/**
 * Leaves the branch of `numbers[index] ?? 0` out of the coverage. The type of an index needs it, and no input reaches it:
 * the other checks of an index are branches of their own.
 */
export function leaveOutIndexDefaults(): Plugin {
  return {
    name: 'leave-out-index-defaults',
    enforce: 'post',
    transform(code, id) {
      if (!id.includes('/src/')) return null
      const marked = new MagicString(code)
      visit(this.parse(code), (node) => {
        const { type, operator, left, right, start } = node
        const isDefault =
          type === 'LogicalExpression' && operator === '??' && isNode(right) && right.value === 0
        if (isDefault && isNode(left) && left.type === 'MemberExpression' && left.computed === true)
          marked.appendLeft(Number(start), '/* v8 ignore next */ ')
      })
      return { code: marked.toString(), map: marked.generateMap({ hires: true }) }
    },
  }
}

type Node = Readonly<Record<string, unknown>>

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null
}

function visit(node: unknown, each: (node: Node) => void): void {
  if (!isNode(node)) return
  each(node)
  for (const child of Object.values(node)) visit(child, each)
}
