import { isObject } from '@portico/http/json'
import type { Path } from '../../schema/problem.ts'

/** The name of the listener and of the route that `llm` stands for. */
const NAME = 'llm'
const DEFAULT_PORT = 4_000

/** A config without `llm`. */
export interface ExpandedConfig {
  value: unknown
  /** The path in the original config of a path in `value`. */
  originOf(this: void, path: Path): Path
}

/** Replaces `llm` by the bind that it stands for, after all other binds. Invalid values stay for the validation to report. */
export function expandLlm(input: unknown): ExpandedConfig {
  if (!isObject(input) || !isObject(input['llm'])) return { value: input, originOf: (path) => path }
  const { llm, ...rest } = input
  const binds: unknown[] = Array.isArray(rest['binds']) ? rest['binds'] : []
  return {
    value: { ...rest, binds: [...binds, llmBind(llm)] },
    originOf: (path) => (path[0] === 'binds' && path[1] === binds.length ? originInLlm(path.slice(2)) : path),
  }
}

/** The bind that `llm` stands for; the members may be values or nodes of a document. */
export function llmBind({ port, address, tls, models, policies }: Readonly<Record<string, unknown>>): object {
  const route = { name: NAME, ...(policies !== undefined && { policies }), backends: [{ ai: { models } }] }
  const listener = { name: NAME, ...(tls !== undefined && { protocol: 'HTTPS', tls }), routes: [route] }
  return { port: port ?? DEFAULT_PORT, ...(address !== undefined && { address }), listeners: [listener] }
}

const ROUTE: Path = ['listeners', 0, 'routes', 0]
const ORIGINS: readonly (readonly [string, Path])[] = [
  ['models', [...ROUTE, 'backends', 0, 'ai', 'models']],
  ['policies', [...ROUTE, 'policies']],
  ['tls', ['listeners', 0, 'tls']],
  ['port', ['port']],
  ['address', ['address']],
]

function originInLlm(path: Path): Path {
  for (const [name, expanded] of ORIGINS) {
    if (expanded.every((step, at) => path[at] === step)) return ['llm', name, ...path.slice(expanded.length)]
  }
  return ['llm']
}
