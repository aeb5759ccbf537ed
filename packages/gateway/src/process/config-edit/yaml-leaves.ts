import { type Document, isAlias, isMap, isScalar, isSeq, parseDocument, type Scalar } from 'yaml'
import type { Path } from '../../schema/problem.ts'

/** A scalar in a YAML text, with its position. */
export interface Leaf {
  path: Path
  value: unknown
  from: number
  to: number
}

interface WrittenTree {
  /** The text as written; for an alias, its name. */
  tree: unknown
  leaves: Leaf[]
}

/** The values of a text with their positions. Aliases are not followed, so each value has one position. */
export function writtenTree(document: Document): WrittenTree {
  const leaves: Leaf[] = []
  const walk = (node: unknown, path: Path): unknown => {
    if (isAlias(node)) return `*${node.source}`
    if (isMap(node)) {
      return Object.fromEntries(
        node.items.map(({ key, value }) => {
          const name = isScalar(key) ? String(key.value) : String(key)
          return [name, walk(value, [...path, name])]
        }),
      )
    }
    if (isSeq(node)) return node.items.map((item, index) => walk(item, [...path, index]))
    if (isScalar(node)) leaves.push(leafOf(node, path))
    return isScalar(node) ? node.value : null
  }
  return { tree: walk(document.contents, []), leaves }
}

function leafOf({ value, range }: Scalar, path: Path): Leaf {
  return { path, value, from: range?.[0] ?? 0, to: range?.[1] ?? 0 }
}

/** As a config is read. */
export function parseText(text: string): Document {
  return parseDocument(text, { prettyErrors: false, stringKeys: true })
}
