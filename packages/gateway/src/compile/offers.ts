import { createHash } from 'node:crypto'
import type { Ir } from '../ir/resources.ts'

/**
 * One hash per MCP backend over everything that decides which tools, prompts and resources it offers: its targets, and
 * all rules.
 */
export function offersOf({ backends, policies }: Ir): Map<string, string> {
  const rules = policies.flatMap(({ target, backend }) =>
    backend?.mcp === undefined ? [] : [{ target, mcp: backend.mcp }],
  )
  const hashOf = (target: object): string =>
    createHash('sha256')
      .update(JSON.stringify([target, rules]))
      .digest('base64')
  return new Map(
    backends.flatMap(({ key, target }) => (target.kind === 'mcp' ? [[offerKey(key), hashOf(target)] as const] : [])),
  )
}

/** A stable name for a backend, without the port: replicas may listen on other ports, and a port may change. */
export function offerKey(backend: string): string {
  return backend.replace(/^bind\/[^/]+\//, '')
}
