import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { ChatRequest, Json, JsonObject } from '@portico/chat'
import { applyEdits, joinEdits, type MemberEdits, NO_EDITS, isObject } from '@portico/http/json'
import { isCelError, toJson } from '@portico/cel'
import { enrichPrompt, markCaching } from './shape-prompt.ts'
import type { Provider } from '../providers/provider.ts'
import type { Env } from '../../pipeline/context/step.ts'
import type { FieldExpression, FieldValue, PromptCachingConfig, PromptConfig } from './schema.ts'

/** The changes that a provider's `ai` policy makes to chats. */
export interface ProviderEdits {
  /** Model and fields, in the client's own format. */
  request(body: JsonObject, pathModel: string | null, rx: RequestContext): EditedRequest
  /**
   * Edits the conversation, and returns the same object when nothing changes. Null when the policy never changes the
   * conversation.
   */
  readonly shape: ((request: ChatRequest) => ChatRequest) | null
  /** The same edits for calls of one model, which replaces the client's. */
  forModel(model: string): ProviderEdits
}

/** The members of the `ai` policy that change chats. */
interface EditsConfig extends FieldRules {
  modelAliases?: Readonly<Record<string, string>> | undefined
  prompt?: PromptConfig | undefined
  promptCaching?: PromptCachingConfig | undefined
}

/** The edits that the `ai` policy makes to the chats of one provider. */
export function createProviderEdits(config: EditsConfig, vendor: Provider, env: Env): ProviderEdits {
  const { modelAliases, prompt, promptCaching, ...fields } = config
  const aliasOf = createAliases(modelAliases)
  const expressions = new Map(
    (fields.transformations ?? []).map(({ expression }) => [expression, env.cel(expression, 'llmRequest')] as const),
  )
  const shape = (request: ChatRequest): ChatRequest => {
    const enriched = prompt === undefined ? request : enrichPrompt(request, prompt)
    const caches = promptCaching !== undefined && vendor.cachesPrompts(request.model)
    return caches ? markCaching(enriched, promptCaching) : enriched
  }
  const forModel = (model: string | null): ProviderEdits => ({
    shape: prompt === undefined && promptCaching === undefined ? null : shape,
    request: (body, pathModel, rx) =>
      editRequest(body, pathModel, { model, fields, aliasOf }, (source): Json | undefined => {
        rx.llmRequest = body
        const result = expressions.get(source)?.evaluate(rx) ?? null
        return isCelError(result) ? undefined : toJson(result)
      }),
    forModel,
  })
  return forModel(vendor.model)
}

interface RequestRules {
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

interface FieldRules {
  defaults?: readonly FieldValue[] | undefined
  overrides?: readonly FieldValue[] | undefined
  transformations?: readonly FieldExpression[] | undefined
}

/**
 * The changes that the policy makes to a body. Transformations win over overrides, overrides win over the client's
 * value, and defaults fill members that are still absent. `evaluate` sees the body before the changes; undefined from
 * `evaluate` means that the expression failed, and removes the member.
 */
export function fieldEdits(
  body: JsonObject,
  { defaults = [], overrides = [], transformations = [] }: FieldRules,
  evaluate: (expression: string) => Json | undefined,
): MemberEdits {
  if (defaults.length + overrides.length + transformations.length === 0) return NO_EDITS
  const edits = new Map<string, Json | undefined>()
  for (const { field, value } of overrides) edits.set(field, value)
  for (const { field, expression } of transformations) edits.set(field, evaluate(expression))
  for (const { field, value } of defaults) {
    const current = edits.has(field) ? edits.get(field) : ownMember(body, field)
    // SDKs send null for members that are not set.
    if (current === undefined || current === null) edits.set(field, value)
  }
  return edits
}

function ownMember(body: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(body, name) ? body[name] : undefined
}

/**
 * The edits that a Chat Completions body needs when it is forwarded without translation: the same ones that the encoder
 * makes in translated requests.
 */
export function completionsEdits(body: JsonObject, quirks: ReadonlySet<string>): MemberEdits {
  const edits = new Map<string, Json | undefined>()
  if (quirks.has('completionTokens') && typeof body.max_tokens === 'number') {
    edits.set('max_tokens', undefined)
    edits.set('max_completion_tokens', body.max_completion_tokens ?? body.max_tokens)
  }
  if (body.stream === true && !quirks.has('noStreamOptions') && !asksForUsage(body)) {
    const options = isObject(body.stream_options) ? body.stream_options : {}
    edits.set('stream_options', { ...options, include_usage: true })
  }
  return edits.size === 0 ? NO_EDITS : edits
}

/** Whether the client asked for usage in a stream. If not, the usage record is withheld from the client. */
export function asksForUsage(body: JsonObject): boolean {
  return isObject(body.stream_options) && body.stream_options.include_usage === true
}
