import { isObject, type JsonObject } from '@portico/http/json'

/** The task that a message belongs to. */
export const RELATED_TASK = 'io.modelcontextprotocol/related-task'
/** Links of tools to the resource that shows their results, besides `_meta.ui.resourceUri`. */
export const UI_LINKS = ['ui/resourceUri', 'openai/outputTemplate'] as const
/** Who answered. */
export const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'

/** What the gateway calls itself where it speaks for several targets. */
export interface GatewayInfo {
  name: string
  version: string
}

/** One `_meta` of several, a later one winning; empty when there is none. */
export function mergeMeta(results: readonly JsonObject[], gateway: GatewayInfo): JsonObject {
  const all = results.flatMap(({ _meta }) => (isObject(_meta) ? Object.entries(_meta) : []))
  if (all.length === 0) return {}
  const merged = Object.fromEntries(all)
  if (merged[SERVER_INFO] !== undefined) merged[SERVER_INFO] = { ...gateway }
  return { _meta: merged }
}
