import { createHash } from 'node:crypto'
import { isObject, type Json, type JsonObject, objectAt } from '@portico/http/json'
import { exactMember } from './edit-exactly.ts'
import { makeMessage, type RpcMessage } from './message.ts'

/**
 * What servers with sessions ask clients while a call is under way, for clients without: the result of the call says what
 * is asked, and the client calls again with the answers.
 */

/** Results of these may ask for something. */
export const ASKING_METHODS: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read'])

/** Of what a client says it can do: what a server with sessions may make use of. It cannot tell that its roots changed. */
export function carriedAbilities(capabilities: Json | undefined): JsonObject {
  const { elicitation, sampling, roots } = isObject(capabilities) ? capabilities : {}
  return {
    ...(isObject(elicitation) && { elicitation: flagsOf(elicitation, ['form', 'url']) }),
    ...(isObject(roots) && { roots: {} }),
    ...(isObject(sampling) && { sampling: flagsOf(sampling, ['context', 'tools']) }),
  }
}

/** Known ones alone: callers are told apart by them, and must not be able to make up as many as they like. */
function flagsOf(ability: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => isObject(ability[name])).map((name) => [name, {}]))
}

/** Whether a client that can do this can be asked that. */
export function canAnswer({ elicitation, sampling, roots }: JsonObject, { method, value }: RpcMessage): boolean {
  const params = objectAt(value, 'params')
  switch (method) {
    case 'roots/list':
      return isObject(roots)
    case 'sampling/createMessage':
      return isObject(sampling) && (params.tools === undefined || isObject(sampling.tools))
    case 'elicitation/create':
      if (!isObject(elicitation)) return false
      if (params.mode === 'url') return isObject(elicitation.url)
      return isObject(elicitation.form) || !isObject(elicitation.url)
    default:
      return false
  }
}

/** A request of a server, as a result has it. Nobody could report progress on it, or that a page was left. */
export function asInputRequest(question: RpcMessage): JsonObject {
  const { method } = question
  const { elicitationId: _, _meta, ...params } = exactMember(question, 'params') ?? {}
  const { progressToken: __, ...meta } = isObject(_meta) ? _meta : {}
  if (Object.keys(meta).length > 0) params._meta = meta
  // Some clients cannot do without.
  return { method, params }
}

/** The result of a call that waits for answers. */
export function inputRequired(request: RpcMessage, inputRequests: JsonObject, requestState: string): RpcMessage {
  const result = { resultType: 'input_required', inputRequests, requestState }
  return makeMessage({ jsonrpc: '2.0', id: request.id, result })
}

/** Answers that a client comes back with, by the keys of the questions. */
export function answersIn(request: RpcMessage): Map<string, JsonObject> {
  const given = exactMember(request, 'params')?.inputResponses
  if (!isObject(given)) return new Map()
  return new Map(
    Object.entries(given).filter(
      (entry): entry is [string, JsonObject] => isObject(entry[1]) && !JSON.isRawJSON(entry[1]),
    ),
  )
}

/** Tells whether a client came back with the same call, in whatever order it writes its members. */
export function digestOf({ method, value }: RpcMessage): string {
  const { _meta: _, inputResponses: __, requestState: ___, ...params } = objectAt(value, 'params')
  const text = JSON.stringify([method, params], (_key, held: Json) => (isObject(held) ? sorted(held) : held))
  return createHash('sha256').update(text).digest('base64url')
}

function sorted(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).toSorted(([first], [second]) => (first < second ? -1 : 1)))
}
