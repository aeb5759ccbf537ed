import { isObject, type Json, type JsonObject } from '@portico/http/json'
import type { Namer } from '../names.ts'
import { type GatewayInfo, mergeMeta, SERVER_INFO } from './meta.ts'

/** What one target said of itself. */
export interface ServerPart {
  target: string
  result: JsonObject
}

export interface ServerOptions {
  namer: Namer
  gateway: GatewayInfo
  /** Whether changes of resources can reach clients: without sessions they cannot. */
  canSubscribe: boolean
}

/** One answer to `initialize` of those of several targets; a target that stands alone says its own. */
export function mergeInitialize(parts: readonly ServerPart[], options: ServerOptions): JsonObject {
  if (!options.namer.isMerged && parts[0] !== undefined) return parts[0].result
  const versions = parts.flatMap(({ result }) =>
    typeof result.protocolVersion === 'string' ? result.protocolVersion : [],
  )
  const { capabilities, instructions, meta } = mergeParts(parts, options)
  // Revisions are named by dates, so the lowest text is the oldest.
  return {
    protocolVersion: versions.toSorted()[0] ?? '',
    capabilities,
    serverInfo: { ...options.gateway },
    instructions,
    ...meta,
  }
}

/** The same for `server/discover`; `versions` are those that the gateway speaks. */
export function mergeDiscover(
  parts: readonly ServerPart[],
  versions: readonly string[],
  options: ServerOptions,
): JsonObject {
  if (!options.namer.isMerged && parts[0] !== undefined) return parts[0].result
  const { capabilities, instructions, meta } = mergeParts(parts, options)
  return {
    resultType: 'complete',
    supportedVersions: [...versions],
    capabilities,
    instructions,
    ttlMs: 0,
    cacheScope: 'private',
    _meta: { ...(isObject(meta._meta) ? meta._meta : {}), [SERVER_INFO]: { ...options.gateway } },
  }
}

function mergeParts(parts: readonly ServerPart[], { namer, gateway, canSubscribe }: ServerOptions) {
  const capabilities = parts
    .map(({ result }) => (isObject(result.capabilities) ? result.capabilities : {}))
    .reduce(unite, {})
  if (!canSubscribe && isObject(capabilities.resources)) {
    const { subscribe: _, ...resources } = capabilities.resources
    capabilities.resources = resources
  }
  return {
    capabilities: canSubscribe ? withChanges(capabilities) : capabilities,
    instructions: instructionsOf(parts, namer),
    meta: mergeMeta(
      parts.map(({ result }) => result),
      gateway,
    ),
  }
}

/** Lists change with the config too, whatever the targets say of theirs. */
function withChanges(capabilities: JsonObject): JsonObject {
  const changing = ['tools', 'prompts', 'resources'].flatMap((name) => {
    const before = capabilities[name]
    return isObject(before) ? [[name, { ...before, listChanged: true }] as const] : []
  })
  return { ...capabilities, ...Object.fromEntries(changing) }
}

/** What either can do. */
function unite(first: JsonObject, second: JsonObject): JsonObject {
  const entries = new Map(Object.entries(first))
  for (const [name, value] of Object.entries(second)) {
    const before = entries.get(name)
    entries.set(name, before === undefined ? value : uniteValues(before, value))
  }
  return Object.fromEntries(entries)
}

function uniteValues(first: Json, second: Json): Json {
  if (isObject(first) && isObject(second)) return unite(first, second)
  return first === false || first === null ? second : first
}

/** What the targets tell models, each under its name. */
function instructionsOf(parts: readonly ServerPart[], namer: Namer): string {
  const blocks = parts.flatMap(({ target, result: { instructions } }) =>
    typeof instructions === 'string' && instructions !== '' ? `[${target}]\n${instructions}` : [],
  )
  return [introduction(parts, namer), ...blocks].join('\n\n')
}

function introduction(parts: readonly ServerPart[], namer: Namer): string {
  const names = parts.map(({ target }) => target).join(', ')
  const several = `This server puts several servers together: ${names}.`
  return namer.isPrefixed
    ? `${several} Tools and prompts are named after the server they come from: \`server_name\`.`
    : several
}
