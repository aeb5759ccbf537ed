import { isObject, type Json, type JsonObject } from '@portico/http/json'
import type { Namer } from '../names.ts'
import { type GatewayInfo, mergeMeta, SERVER_INFO } from './meta.ts'

/** The `initialize` or `server/discover` result of one target. */
export interface ServerPart {
  target: string
  result: JsonObject
}

export interface ServerOptions {
  namer: Namer
  gateway: GatewayInfo
  /** Whether notifications can reach clients; without session ids they cannot. */
  canSubscribe: boolean
}

/** Merges the `initialize` results of several targets; the result of a single target stays as it is. */
export function mergeInitialize(parts: readonly ServerPart[], options: ServerOptions): JsonObject {
  if (!options.namer.isMerged && parts[0] !== undefined) return parts[0].result
  const versions = parts.flatMap(({ result }) =>
    typeof result.protocolVersion === 'string' ? result.protocolVersion : [],
  )
  const { capabilities, instructions, meta } = mergeParts(parts, options)
  // Revisions are ISO dates, so the first one in text order is the oldest.
  return {
    protocolVersion: versions.toSorted()[0] ?? '',
    capabilities,
    serverInfo: { ...options.gateway },
    instructions,
    ...meta,
  }
}

/** Merges the `server/discover` results of several targets; `versions` are the revisions that the gateway supports. */
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

/** Declares `listChanged` for every list, because a config reload can change lists of any target. */
function withChanges(capabilities: JsonObject): JsonObject {
  const changing = ['tools', 'prompts', 'resources'].flatMap((name) => {
    const before = capabilities[name]
    return isObject(before) ? [[name, { ...before, listChanged: true }] as const] : []
  })
  return { ...capabilities, ...Object.fromEntries(changing) }
}

/** Returns the union of two sets of capabilities. */
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

/** Returns the instructions of the targets, each under the target's name. */
function instructionsOf(parts: readonly ServerPart[], namer: Namer): string {
  const blocks = parts.flatMap(({ target, result: { instructions } }) =>
    typeof instructions === 'string' && instructions !== '' ? `[${target}]\n${instructions}` : [],
  )
  return [introduction(parts, namer), ...blocks].join('\n\n')
}

function introduction(parts: readonly ServerPart[], namer: Namer): string {
  const names = parts.map(({ target }) => target).join(', ')
  const several = `This server combines several servers: ${names}.`
  return namer.isPrefixed
    ? `${several} Tools and prompts are named after the server they come from: \`server_name\`.`
    : several
}
