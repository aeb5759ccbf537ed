import { type Json, type JsonObject, UnsupportedField } from '@portico/chat'
import { hasLargeNumber, isObject, parseExactObject, textAt } from '@portico/http/json'
import { estimatePrompt, outputMaximum } from '../../../llm/estimate-call.ts'
import type { Rejection } from '../../../llm/guards/guard.ts'
import type { JsonBody } from '../client-request.ts'
import type { FailoverCall } from '../failover-call.ts'
import type { ReadyProvider } from '../provider.ts'
import type { BatchHost } from './batch-host.ts'
import { createLineGuard } from './guard-line.ts'

/** The requests of a message batch. */
export interface MessageBatch {
  readonly json: JsonBody
  readonly requests: readonly BatchRequest[]
  /** The model of all requests, as the client named it. */
  readonly model: string
  /** The parameters of the first request. */
  readonly first: JsonObject
  /** The estimated tokens of all requests. */
  readonly expected: { readonly input: number; readonly output: number }
}

interface BatchRequest {
  readonly id: string
  readonly params: JsonObject
}

/** Reads the body of a new batch. All requests need the same model, because one provider gets them. */
export function readMessageBatch(json: JsonBody): MessageBatch | UnsupportedField {
  const listed = json.value['requests']
  if (!Array.isArray(listed) || listed.length === 0)
    return new UnsupportedField('requests', 'must be a list of requests')
  const requests: BatchRequest[] = []
  const expected = { input: 0, output: 0 }
  for (const [index, each] of listed.entries()) {
    const request = readRequest(each, requests[0])
    if (typeof request === 'string') return new UnsupportedField(`requests[${index}]`, request)
    requests.push(request)
    expected.input += estimatePrompt(request.params, null)
    expected.output += outputMaximum(request.params, ASSUMED_OUTPUT)
  }
  const first = requests[0]?.params ?? {}
  return { json, requests, model: textAt(first, 'model') ?? '', first, expected }
}

function readRequest(value: Json, first: BatchRequest | undefined): BatchRequest | string {
  if (!isObject(value)) return 'must be an object'
  const { custom_id: id, params } = value
  if (typeof id !== 'string' || id === '') return 'needs a `custom_id`'
  if (!isObject(params)) return 'needs `params`, an object'
  const model = textAt(params, 'model')
  if (model === undefined || model === '') return 'names no model in its `params`'
  if (params.stream === true) return 'cannot be a stream'
  const known = first === undefined ? model : textAt(first.params, 'model')
  if (model === known) return { id, params }
  return `names the model ${shortened(model)}, and the first one ${shortened(known ?? '')}: use a batch for each model`
}

interface EditParts {
  readonly host: BatchHost
  readonly provider: ReadyProvider
  readonly call: FailoverCall
}

/** Edits and guards each request of the batch, as if it came on its own. One rejected request rejects the whole batch. */
export function editMessageBatch<Result>(
  batch: MessageBatch,
  { host, provider, call }: EditParts,
  use: (bytes: Buffer, model: string) => Result,
): Result | UnsupportedField | Promise<Result | UnsupportedField | Rejection> {
  const { edits, guards, vendor } = provider
  const { rx, formats } = host
  if (vendor.hasMessageBatches !== true) {
    return new UnsupportedField('path', `${vendor.name} has no message batches`)
  }
  if (edits.shape !== null) return SHAPED
  const { model } = edits.request(batch.first, null, rx)
  const edited = exactRequests(batch).map(({ id, params }) => ({ id, ...edits.request(params, null, rx) }))
  const isEdited = edited.some((request) => request.edits.size > 0)
  if (guards.request === null) return use(isEdited ? written(batch, edited) : batch.json.bytes, model)
  const guard = createLineGuard(guards.request, 'Messages', { call, formats })
  return (async () => {
    const guarded: { id: string; body: JsonObject }[] = []
    let isMasked = false
    // Guards check one request after the other, as the services that they call expect.
    for (const [index, { id, body }] of edited.entries()) {
      const found = await guard(body)
      if ('body' in found) {
        isMasked ||= found.body !== body
        guarded.push({ id, body: found.body })
        continue
      }
      const at = `requests[${index}]`
      const { refusal } = found
      if (refusal instanceof UnsupportedField) return new UnsupportedField(`${at}.${refusal.field}`, refusal.message)
      return { ...refusal, body: `${at}: ${refusal.body}` }
    }
    return use(isEdited || isMasked ? written(batch, guarded) : batch.json.bytes, model)
  })()
}

/** Returns the requests with the exact digits of numbers that a double cannot represent. */
function exactRequests({ json, requests }: MessageBatch): readonly BatchRequest[] {
  const text = json.bytes.toString('utf8')
  const exact = hasLargeNumber(text) ? parseExactObject(text)?.['requests'] : undefined
  if (!Array.isArray(exact)) return requests
  return requests.map(({ id, params }, index) => {
    const own = exact[index]
    return { id, params: isObject(own) && isObject(own.params) ? own.params : params }
  })
}

function written({ json }: MessageBatch, requests: readonly { id: string; body: JsonObject }[]): Buffer {
  const listed = requests.map(({ id, body }) => ({ custom_id: id, params: body }))
  return Buffer.from(JSON.stringify({ ...json.value, requests: listed }))
}

/** Quotes and shortens a text for a message, because clients choose the names of models. */
function shortened(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text)
}

const SHAPED = new UnsupportedField(
  'requests',
  'cannot be sent: the `prompt` or `promptCaching` of the backend would not apply to them',
)
/** The output tokens that are assumed for a request without a maximum, as in `budget.outputTokens`. */
const ASSUMED_OUTPUT = 4_096
