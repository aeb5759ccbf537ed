import { isObject, objectAt } from '../../../wire/json.ts'
import type { MemberEdits } from '../../../wire/member-edits.ts'
import type { Json, JsonObject } from '../../middle.ts'
import type { ProviderCall } from '../provider.ts'

/** Claude on Vertex: the version stands in the body, the model in the path, and newer fields are refused. */
export function claudeBodyEdits(body: JsonObject, { kind }: ProviderCall, model: string): MemberEdits {
  const edits = new Map<string, Json | undefined>([['anthropic_version', 'vertex-2023-10-16']])
  // Counting has one path for all models.
  edits.set('model', kind === 'countTokens' ? model : undefined)
  if (body.output_format !== undefined) {
    edits.set('output_format', undefined)
    // Only the newer name of it is known there.
    if (kind === 'chat' && isObject(body.output_format)) {
      edits.set('output_config', { ...objectAt(body, 'output_config'), format: body.output_format })
    }
  }
  for (const name of ['system', 'messages', 'tools']) {
    const value = body[name]
    if (value === undefined) continue
    const plain = withoutScopes(value)
    if (plain !== value) edits.set(name, plain)
  }
  return edits
}

/** The value itself when no mark says for whom the cache is. */
function withoutScopes(value: Json): Json {
  if (Array.isArray(value)) {
    const items = value.map(withoutScopes)
    return items.some((item, at) => item !== value[at]) ? items : value
  }
  if (!isObject(value)) return value
  const members = Object.entries(value).map(([name, member]): [string, Json] => [
    name,
    name === 'cache_control' && isObject(member) ? withoutScope(member) : withoutScopes(member),
  ])
  return members.some(([name, member]) => member !== value[name]) ? Object.fromEntries(members) : value
}

function withoutScope(mark: JsonObject): JsonObject {
  if (mark.scope === undefined) return mark
  const { scope: _scope, ...rest } = mark
  return rest
}
