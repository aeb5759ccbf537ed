import { createHash } from 'node:crypto'
import type { Ir } from '../ir/resources.ts'

/** What decides which tools, prompts and resources each backend shows, as one hash: of its targets, and of all rules. */
export function offersOf({ backends, policies }: Ir): Map<string, string> {
  const rules = policies.flatMap(({ target, backend }) =>
    backend?.mcp === undefined ? [] : [{ target, mcp: backend.mcp }],
  )
  const hashOf = (target: object): string =>
    createHash('sha256')
      .update(JSON.stringify([target, rules]))
      .digest('base64')
  return new Map(
    backends.flatMap(({ key, target }) => (target.kind === 'mcp' ? [[placeOf(key), hashOf(target)] as const] : [])),
  )
}

/** A backend by a name that stays: replicas may listen on other ports, and a port may change. */
export function placeOf(backend: string): string {
  return backend.replace(/^bind\/[^/]+\//, '')
}
