import { dirname } from 'node:path'
import type { ImportGraph } from './import-graph.ts'

/** Children of one folder, files or folders, that import one another in a circle. */
interface FolderCycle {
  /** The folder whose children form the circle; empty for the root. */
  folder: string
  children: string[]
  /** The imports, as `from → to`, without which the circle would be gone; a small set, not always the smallest one. */
  toBreak: string[]
}

interface Edge {
  from: string
  to: string
  imports: string[]
}

/**
 * `folderCycles` finds import cycles between the children of every folder. A folder counts as one node, with all files
 * below it: that `a/x.ts` imports `b/y.ts` and `b/z.ts` imports `a/w.ts` is a cycle between `a` and `b`. Imports of types
 * count.
 */
export function folderCycles(graph: ImportGraph): FolderCycle[] {
  const imports = [...graph].flatMap(([from, entries]) =>
    entries.flatMap(({ to }) => (graph.has(to) ? [{ from, to }] : [])),
  )
  return foldersOf(graph.keys()).flatMap((folder) => {
    const edges = edgesBetween(folder, imports)
    return components(edges).map((children) => ({
      folder,
      children: children.toSorted(),
      toBreak: importsToBreak(children, edges),
    }))
  })
}

/** All folders, the root first. */
function foldersOf(files: Iterable<string>): string[] {
  const folders = new Set([''])
  for (const file of files) {
    for (let folder = dirname(file); folder !== '.'; folder = dirname(folder)) folders.add(folder)
  }
  return [...folders].toSorted()
}

function edgesBetween(folder: string, imports: readonly { from: string; to: string }[]): Edge[] {
  const prefix = folder === '' ? '' : `${folder}/`
  const childOf = (file: string): string => file.slice(prefix.length).split('/', 1)[0] ?? ''
  const edges = new Map<string, Edge>()
  for (const { from, to } of imports) {
    if (!from.startsWith(prefix) || !to.startsWith(prefix) || childOf(from) === childOf(to)) continue
    const edge = edges.get(`${childOf(from)} ${childOf(to)}`) ?? { from: childOf(from), to: childOf(to), imports: [] }
    edge.imports.push(`${from} → ${to}`)
    edges.set(`${edge.from} ${edge.to}`, edge)
  }
  return [...edges.values()]
}

/** Strongly connected components of more than one node, by Tarjan's algorithm. */
function components(edges: readonly Edge[]): string[][] {
  const targets = Map.groupBy(edges, ({ from }) => from)
  const lowest = new Map<string, number>()
  const open: string[] = []
  const found: string[][] = []
  const visit = (node: string): number => {
    const index = lowest.size
    lowest.set(node, index)
    open.push(node)
    let low = index
    for (const { to } of targets.get(node) ?? []) {
      if (!lowest.has(to)) low = Math.min(low, visit(to))
      else if (open.includes(to)) low = Math.min(low, lowest.get(to) ?? low)
    }
    lowest.set(node, low)
    if (low === index) {
      const component = open.splice(open.indexOf(node))
      if (component.length > 1) found.push(component)
    }
    return low
  }
  for (const node of targets.keys()) if (!lowest.has(node)) visit(node)
  return found
}

/** Orders the nodes so that few imports point back, and returns those imports. */
function importsToBreak(nodes: readonly string[], edges: readonly Edge[]): string[] {
  const inside = edges.filter(({ from, to }) => nodes.includes(from) && nodes.includes(to))
  const weights = new Map(inside.map(({ from, to, imports }) => [`${from} ${to}`, imports.length]))
  const weight = (from: string, to: string): number => weights.get(`${from} ${to}`) ?? 0
  const order = nodes.toSorted()
  const improve = (node: string): boolean => {
    const at = order.indexOf(node)
    const rest = order.filter((each) => each !== node)
    const costAt = (place: number): number =>
      rest.reduce((sum, other, i) => sum + (i < place ? weight(node, other) : weight(other, node)), 0)
    const costs = order.map((_, place) => costAt(place))
    const best = costs.indexOf(Math.min(...costs))
    if ((costs[best] ?? 0) >= (costs[at] ?? 0)) return false
    order.splice(0, order.length, ...rest.toSpliced(best, 0, node))
    return true
  }
  // Each move lowers the number of imports that point back, so this ends.
  while (nodes.some(improve));
  return inside
    .filter(({ from, to }) => order.indexOf(from) > order.indexOf(to))
    .flatMap(({ imports }) => imports)
    .toSorted()
}
