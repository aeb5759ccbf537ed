import { isObject, type Json, type JsonObject, objectAt, objectsAt } from '@portico/http/json'

/**
 * Why a request bypasses the cache unless the config says otherwise; null for a request that uses the cache. `body` is in
 * the client's format; `isStoredByDefault` is true for the Responses format, where only `store: false` keeps the provider
 * from storing the response.
 */
export function bypassReason(body: JsonObject, isStoredByDefault: boolean): string | null {
  if (body.store === true || (isStoredByDefault && body.store !== false)) return 'store'
  if (STATEFUL.some((name) => isSet(body[name]))) return 'stateful'
  const config = objectAt(body, body.generationConfig === undefined ? 'generation_config' : 'generationConfig')
  if (asksForSound(config.responseModalities ?? config.response_modalities)) return 'audio'
  if (isRandom(config)) return 'temperature'
  if (isSet(body.audio) || asksForSound(body.modalities)) return 'audio'
  if (isRandom(body)) return 'temperature'
  const usesProviderTools =
    isSet(body.mcp_servers) || isSet(body.web_search_options) || objectsAt(body, 'tools').some(isRunByProvider)
  return usesProviderTools ? 'provider-tools' : null
}

function isRandom({ temperature, seed }: JsonObject): boolean {
  return typeof temperature === 'number' && temperature > 0 && !isSet(seed)
}

function asksForSound(modalities: Json | undefined): boolean {
  return Array.isArray(modalities) && modalities.some((each) => typeof each === 'string' && /^audio$/i.test(each))
}

/** Members that refer to state at the provider, or ask for a job whose result is fetched later. */
const STATEFUL = [
  ...['previous_response_id', 'conversation', 'background', 'container'],
  ...['cachedContent', 'cached_content', 'continuationToken', 'continuation_token'],
] as const

function isSet(value: Json | undefined): boolean {
  return value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0)
}

/** Whether the provider runs a tool itself: its results change with time, or it has effects. */
function isRunByProvider(tool: JsonObject): boolean {
  const { type } = tool
  if (Object.keys(tool).every((name) => DECLARATIONS.has(name))) return false
  if (typeof type !== 'string') return !isObject(tool.input_schema) && !isObject(tool.function)
  return !CLIENT_TOOLS.test(type)
}

/** Functions that clients of Google's API run themselves. */
const DECLARATIONS: ReadonlySet<string> = new Set(['functionDeclarations', 'function_declarations'])
const CLIENT_TOOLS = /^(?:function|custom|(?:bash|text_editor|computer|memory)_\d+)$/
