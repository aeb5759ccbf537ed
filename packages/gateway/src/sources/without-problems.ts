import { isObject } from '@portico/http/json'
import type { Path, Problem } from '../schema/problem.ts'

/**
 * A copy of a config without the parts that have problems, so that the others can be looked at: the policy that a problem
 * is in, the route, the backend, or else the key. Items of lists are replaced by harmless ones: paths stay what they were.
 */
export function withoutProblems(input: unknown, problems: readonly Problem[]): unknown {
  const copy: unknown = structuredClone(input)
  for (const { path } of problems) {
    if (path.length > 0) leaveOut(copy, partOf(path))
  }
  return copy
}

/** The smallest part around a problem without which the rest means the same. */
function partOf(path: Path): Path {
  const policy = path.findLastIndex((step, at) => BLOCKS.has(step) && typeof path[at + 1] === 'string')
  if (policy !== -1) return path.slice(0, policy + 2)
  const route = path.lastIndexOf('routes')
  if (route !== -1 && path.length > route + 1) return path.slice(0, route + 2)
  return path[0] === 'backends' ? path.slice(0, 2) : path
}

/** Blocks whose keys are policies. */
const BLOCKS: ReadonlySet<string | number> = new Set(['frontend', 'traffic', 'backend', 'policies'])

function leaveOut(root: unknown, path: Path): void {
  const owner = path.slice(0, -1).reduce<unknown>((value, step) => memberOf(value, step), root)
  const step = path.at(-1)
  if (Array.isArray(owner) && typeof step === 'number') owner[step] = harmless(path, owner[step])
  else if (isObject(owner) && typeof step === 'string' && step in owner) delete owner[step]
  // A missing part, or one inside of a removed part, is removed with its owner.
  else if (owner !== undefined && path.length > 1) leaveOut(root, path.slice(0, -1))
}

/** The replacement keeps the name, so that references to it stay valid, and the parts with problems of their own. */
function harmless(path: Path, item: unknown): unknown {
  const kept = (...keys: string[]): object =>
    Object.fromEntries(keys.map((key) => [key, memberOf(item, key)]).filter(([, value]) => value !== undefined))
  const list = path.at(-2)
  if (list === 'binds') return { ...kept('listeners'), port: 0 }
  if (list === 'listeners') return kept('name', 'policies', 'routes')
  return list === 'backends' ? { ...kept('name'), static: { host: '127.0.0.1', port: 1 } } : kept('name')
}

function memberOf(value: unknown, step: string | number): unknown {
  return isObject(value) || Array.isArray(value) ? (value as Record<string | number, unknown>)[step] : undefined
}
