import { toV8Class } from './char-set.ts'
import type { RegexNode } from './parse.ts'

export function toV8Source(node: RegexNode): string {
  if (node.kind === 'chars') return toV8Class(node.set)
  if (node.kind === 'choice') return node.branches.map(toV8Source).join('|')
  if (node.kind === 'repeat') return `${group(node.item)}{${node.min},${node.max === Infinity ? '' : node.max}}`
  return node.items.map((item) => (item.kind === 'choice' ? group(item) : toV8Source(item))).join('')
}

function group(node: RegexNode): string {
  return node.kind === 'chars' ? toV8Source(node) : `(?:${toV8Source(node)})`
}
