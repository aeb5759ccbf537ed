import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { ChatRequest, Json, JsonObject } from '@portico/chat'
import { fieldEdits, type FieldRules } from './field-edits.ts'
import { applyEdits, joinEdits, type MemberEdits, NO_EDITS } from '@portico/http/json'

/** The changes that a provider's `ai` policy makes to chats. */
export interface ProviderEdits {
  /** Model and fields, in the client's own format. */
  request(body: JsonObject, pathModel: string | null, rx: RequestContext): EditedRequest
  /**
   * Edits the conversation, and returns the same object when nothing changes. Null when the policy never changes the
   * conversation.
   */
  readonly shape: ((request: ChatRequest) => ChatRequest) | null
}

export interface RequestRules {
  /** The model that the provider's config demands. */
  model: string | null
  fields: FieldRules
  aliasOf: (model: string) => string
}

export interface EditedRequest {
  edits: MemberEdits
  /** The body after the edits. */
  body: JsonObject
  /** The model to request from the provider; empty when neither the client nor the config names a model. */
  model: string
}

/**
 * Edits a body in the client's format: sets the provider's model, applies the edits of the policy, then resolves the
 * model alias.
 */
export function editRequest(
  original: JsonObject,
  pathModel: string | null,
  rules: RequestRules,
  evaluate: (expression: string) => Json | undefined,
): EditedRequest {
  const model = rules.model ?? (namesModel(original) ? null : pathModel)
  const chosen: MemberEdits = model === null ? NO_EDITS : new Map([['model', model]])
  const edited = fieldEdits(applyEdits(original, chosen), rules.fields, evaluate)
  const edits = joinEdits(chosen, edited)
  const body = applyEdits(original, edits)
  if (!namesModel(body)) return { edits, body, model: '' }
  const alias = rules.aliasOf(body.model)
  if (alias === original.model && edits.size === 0) return { edits, body, model: alias }
  if (alias === original.model)
    return { edits: withoutEdit(edits, 'model'), body: { ...body, model: alias }, model: alias }
  if (alias === body.model) return { edits, body, model: alias }
  const named: MemberEdits = new Map([['model', alias]])
  return { edits: joinEdits(edits, named), body: applyEdits(body, named), model: alias }
}

export function namesModel(body: JsonObject): body is JsonObject & { model: string } {
  return typeof body.model === 'string' && body.model !== ''
}

/** Removes the edit of a member whose value did not change, so that the bytes of the body stay as they are. */
function withoutEdit(edits: MemberEdits, name: string): MemberEdits {
  if (!edits.has(name)) return edits
  return new Map([...edits].filter(([other]) => other !== name))
}

/**
 * Maps the model name of a client to the provider's model: an exact alias first, then patterns, the longest first.
 * Aliases are applied once.
 */
export function createAliases(aliases: Readonly<Record<string, string>> = {}): (model: string) => string {
  const exact = new Map(Object.entries(aliases))
  const patterns = [...exact]
    .filter(([name]) => name.includes('*'))
    .map(([name, model]) => ({ length: name.length, parts: name.split('*'), model }))
    .sort((a, b) => b.length - a.length)
  if (exact.size === 0) return (model) => model
  return (model) => exact.get(model) ?? patterns.find(({ parts }) => matches(parts, model))?.model ?? model
}

/**
 * Whether the parts occur in `text` in order, the first at its start and the last at its end. `*` matches any text, so
 * the earliest occurrence of each part suffices.
 */
function matches(parts: readonly string[], text: string): boolean {
  const first = parts[0] ?? ''
  const last = parts.at(-1) ?? ''
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
  const end = text.length - last.length
  let at = first.length
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at)
    if (found === -1 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
