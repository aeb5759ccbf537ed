import { compactJson } from './json-lines.ts'

export interface Change {
  readonly kind: 'added' | 'removed' | 'changed'
  readonly path: string
  readonly before?: string
  readonly after?: string
}

/** Returns the differences between two states, leaf by leaf, sorted by path. */
export function diffStates(before: unknown, after: unknown): Change[] {
  const old = leavesOf(before)
  const now = leavesOf(after)
  const paths = [...new Set([...old.keys(), ...now.keys()])].toSorted((a, b) => (a < b ? -1 : 1))
  return paths.flatMap((path): Change[] => {
    const was = old.get(path)
    const is = now.get(path)
    if (was === is) return []
    if (is === undefined) return [{ kind: 'removed', path, before: was }]
    return [was === undefined ? { kind: 'added', path, after: is } : { kind: 'changed', path, before: was, after: is }]
  })
}

/** Formats a change: `+ request.headers.x: "1"`, `- …`, `~ request.path: "/api" → "/"`. */
export function changeLine({ kind, path, before, after }: Change): string {
  const name = path === '' ? '(all)' : path
  switch (kind) {
    case 'added':
      return `+ ${name}: ${after}`
    case 'removed':
      return `- ${name}: ${before}`
    case 'changed':
      return `~ ${name}: ${before} → ${after}`
  }
}

const MAX_DEPTH = 32

/** Compact JSON of every leaf by path; empty objects and lists, and parts that nest too deep, are leaves. */
export function leavesOf(value: unknown): Map<string, string> {
  const leaves = new Map<string, string>()
  collect(value, { path: '', depth: 0, leaves })
  return leaves
}

function collect(
  value: unknown,
  { path, depth, leaves }: { path: string; depth: number; leaves: Map<string, string> },
) {
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : []
  if (members.length === 0 || depth === MAX_DEPTH) {
    if (value !== undefined) leaves.set(path, compactJson(value))
    return
  }
  for (const [name, member] of members) {
    const part = Array.isArray(value) ? `[${name}]` : partOf(name, path === '')
    collect(member, { path: path + part, depth: depth + 1, leaves })
  }
}

function partOf(name: string, isFirst: boolean): string {
  // Names with dots or brackets are quoted, because they would read as another path.
  if (!/^[\w-]+$/.test(name)) return `[${JSON.stringify(name)}]`
  return isFirst ? name : `.${name}`
}
