import { isObject, type JsonObject } from '../../wire/json.ts'
import { SERVER_INFO } from './meta.ts'

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
