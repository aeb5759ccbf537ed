import { isObject, type JsonObject } from '@portico/http/json'

/** The `_meta` member with the task that a message belongs to. */
export const RELATED_TASK = 'io.modelcontextprotocol/related-task'
/** The `_meta` members of tools with the UI resource for their results, besides `_meta.ui.resourceUri`. */
export const UI_LINKS = ['ui/resourceUri', 'openai/outputTemplate'] as const
/** The `_meta` member with the name and version of the server. */
export const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'

/** The server info of the gateway, when it merges several targets. */
export interface GatewayInfo {
  name: string
  version: string
}

/** Merges the `_meta` of several results, of which the last wins; empty when none has `_meta`. */
export function mergeMeta(results: readonly JsonObject[], gateway: GatewayInfo): JsonObject {
  const all = results.flatMap(({ _meta }) => (isObject(_meta) ? Object.entries(_meta) : []))
  if (all.length === 0) return {}
  const merged = Object.fromEntries(all)
  if (merged[SERVER_INFO] !== undefined) merged[SERVER_INFO] = { ...gateway }
  return { _meta: merged }
}
