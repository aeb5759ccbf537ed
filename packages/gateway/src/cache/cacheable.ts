import { isObject, type Json, type JsonObject, objectsAt } from '@portico/http/json'

/**
 * Why a request bypasses the cache unless the config says otherwise; null for a request that uses the cache. `body` is in
 * the client's format; `isStoredByDefault` is true for the Responses format, where only `store: false` keeps the provider
 * from storing the response.
 */
export function bypassReason(body: JsonObject, isStoredByDefault: boolean): string | null {
  if (body.store === true || (isStoredByDefault && body.store !== false)) return 'store'
  if (STATEFUL.some((name) => isSet(body[name]))) return 'stateful'
  if (isSet(body.audio) || (Array.isArray(body.modalities) && body.modalities.includes('audio'))) return 'audio'
  if (typeof body.temperature === 'number' && body.temperature > 0 && !isSet(body.seed)) return 'temperature'
  const usesProviderTools =
    isSet(body.mcp_servers) || isSet(body.web_search_options) || objectsAt(body, 'tools').some(isRunByProvider)
  return usesProviderTools ? 'provider-tools' : null
}

/** Members that refer to state at the provider, or ask for a job whose result is fetched later. */
const STATEFUL = ['previous_response_id', 'conversation', 'background', 'container'] as const

function isSet(value: Json | undefined): boolean {
  return value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0)
}

/** Whether the provider runs a tool itself: its results change with time, or it has effects. */
function isRunByProvider(tool: JsonObject): boolean {
  const { type } = tool
  if (typeof type !== 'string') return !isObject(tool.input_schema) && !isObject(tool.function)
  return !CLIENT_TOOLS.test(type)
}

const CLIENT_TOOLS = /^(?:function|custom|(?:bash|text_editor|computer|memory)_\d+)$/
