import { createHash } from 'node:crypto'
import { isObject, type Json, type JsonObject, objectAt } from '@portico/http/json'
import { exactMember } from './edit.ts'
import { makeMessage, type RpcMessage } from './protocol.ts'

/** The methods during which a server may send requests to the client: the result then asks for input, and the client repeats the call. */
export const ASKING_METHODS: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read'])

/** Returns the capabilities of a client that a server with sessions may use. `roots.listChanged` is left out, because clients without sessions cannot send that notification. */
export function carriedAbilities(capabilities: Json | undefined): JsonObject {
  const { elicitation, sampling, roots } = isObject(capabilities) ? capabilities : {}
  return {
    ...(isObject(elicitation) && { elicitation: flagsOf(elicitation, ['form', 'url']) }),
    ...(isObject(roots) && { roots: {} }),
    ...(isObject(sampling) && { sampling: flagsOf(sampling, ['context', 'tools']) }),
  }
}

/** Returns the known flags only: callers are distinguished by them, and must not be able to invent more. */
function flagsOf(ability: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => isObject(ability[name])).map((name) => [name, {}]))
}

/** Whether a client with these capabilities can answer the request. */
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

/** Converts a server's request for `inputRequests`, without the ids of progress and URL elicitation, which clients could not use. */
export function asInputRequest(question: RpcMessage): JsonObject {
  const { method } = question
  const { elicitationId: _, _meta, ...params } = exactMember(question, 'params') ?? {}
  const { progressToken: __, ...meta } = isObject(_meta) ? _meta : {}
  if (Object.keys(meta).length > 0) params._meta = meta
  // Some clients require `params`.
  return { method, params }
}

/** Builds the response of a call that waits for input. */
export function inputRequired(request: RpcMessage, inputRequests: JsonObject, requestState: string): RpcMessage {
  const result = { resultType: 'input_required', inputRequests, requestState }
  return makeMessage({ jsonrpc: '2.0', id: request.id, result })
}

/** Returns the client's responses to the questions, by key. */
export function answersIn(request: RpcMessage): Map<string, JsonObject> {
  const given = exactMember(request, 'params')?.inputResponses
  if (!isObject(given)) return new Map()
  return new Map(
    Object.entries(given).filter(
      (entry): entry is [string, JsonObject] => isObject(entry[1]) && !JSON.isRawJSON(entry[1]),
    ),
  )
}

/** Returns a digest of the call, which does not depend on the order of members. */
export function digestOf({ method, value }: RpcMessage): string {
  const { _meta: _, inputResponses: __, requestState: ___, ...params } = objectAt(value, 'params')
  const text = JSON.stringify([method, params], (_key, held: Json) => (isObject(held) ? sorted(held) : held))
  return createHash('sha256').update(text).digest('base64url')
}

function sorted(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).toSorted(([first], [second]) => (first < second ? -1 : 1)))
}
