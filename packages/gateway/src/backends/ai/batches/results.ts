import type { ClientFormat } from '@portico/chat'
import type { UpstreamResponse } from '@portico/http/client'
import { isObject, type JsonObject, parseExactObject } from '@portico/http/json'
import { guardContext, noteVerdicts, type ResponseGuards } from '../../../llm/guards/prompt-guards.ts'
import { errorOf } from '../../../llm/guards/rejection.ts'
import { follow, nowOrLater } from '../../../pipeline/call/follow.ts'
import { NOT_NEEDED } from '../answer-faults.ts'
import { headersFor } from '../client-response.ts'
import type { FailoverCall } from '../failover-call.ts'
import type { ReadyProvider } from '../provider.ts'
import type { BatchHost } from './batch-host.ts'
import { isBlank } from './batch-line.ts'
import type { StoredResource } from './batch-ids.ts'
import type { LineCheck } from './line-queue.ts'
import { ResultBody } from './result-body.ts'
import type { ResultCharge } from './result-charges.ts'
import { ResultUsage } from './result-usage.ts'

/** The format of one line of results, which differs between OpenAI and Anthropic. */
interface ResultForm {
  /** Returns the response in a line; null for a request that failed. */
  responseOf(line: JsonObject): JsonObject | null
  /** Returns the line with another response, or with an error in place of the response. */
  withResponse(line: JsonObject, response: { body: JsonObject } | { error: JsonObject; status: number }): JsonObject
  formatOf(response: JsonObject): Pick<ClientFormat, 'texts' | 'encodeError'>
}

interface ResultParts {
  readonly host: BatchHost
  readonly call: FailoverCall
  readonly provider: ReadyProvider
  readonly file: StoredResource
  readonly form: ResultForm
}

/** Passes the results of a batch to the client, and charges the lines that no earlier fetch has charged. */
export function passResults(response: UpstreamResponse, parts: ResultParts): void {
  const { host, call, provider, file } = parts
  const { charges } = host.services
  const key = `${provider.name} ${file.id}`
  if (charges === null) return send(response, parts, { from: 0, isComplete: false, settle() {} })
  const begun = nowOrLater(charges.begin(key, file.createdAt * 1000), (charge) => {
    if (typeof charge !== 'string') {
      if (!call.client.isOver) return send(response, parts, charge)
      charge.settle(0, false)
      return response.body.cancel(NOT_NEEDED)
    }
    response.body.cancel(NOT_NEEDED)
    call.client.sendChatError(charge === 'busy' ? BUSY : UNAVAILABLE)
  })
  follow(call.rx, begun)
}

function send({ status, headers, body }: UpstreamResponse, parts: ResultParts, charge: ResultCharge): void {
  const { host, call, provider, file, form } = parts
  const { client, record, attempts, services } = call
  const { lease } = attempts
  record.requestModel = file.model
  record.operation = 'batch'
  // Adds up only the usage of lines that no earlier fetch has charged.
  const usage = new ResultUsage(record, provider.batchPricer, (line) => form.responseOf(line))
  if (!charge.isComplete) record.ledgerId = `${host.services.ids.digest(file)}-${charge.from}`
  const guards = provider.guards.response
  const passing = new ResultBody(body, {
    check: guards === null ? null : createResultGuard(guards, parts, headers),
    maxLine: services.maxBytes,
    line(line, number) {
      if (number > charge.from) usage.add(line)
    },
    over(lines, isWhole, cause) {
      record.endedAt = services.now()
      usage.finish()
      charge.settle(lines, isWhole)
      if (cause !== null) {
        lease?.failed()
        attempts.settle('connection_lost', true)
        client.noteFault('connection_lost', cause.message)
      }
      lease?.ended()
    },
  })
  const type = headers.get('content-type') ?? 'application/jsonl'
  client.send(status, guards === null ? headers.clone() : headersFor(headers, type), passing)
}

/** Returns the check that runs response guards on each response in the results; a rejected response becomes an error. */
function createResultGuard(
  guards: ResponseGuards,
  { call, form }: ResultParts,
  headers: UpstreamResponse['headers'],
): LineCheck<Error> {
  const { rx, record } = call
  const context = guardContext(rx, call.headers, headers)
  return (bytes, number) => {
    if (isBlank(bytes)) return { bytes }
    const line = parseExactObject(bytes.toString('utf8'))
    if (line === null) return { refusal: new Error(`line ${number} of the results is no JSON object`) }
    const response = form.responseOf(line)
    if (response === null) return { bytes }
    const { texts, encodeError } = form.formatOf(response)
    const json = JSON.stringify(response)
    return nowOrLater(guards.body({ json, texts }, context), ({ body, notes }) => {
      noteVerdicts(rx, { phase: 'response', model: record.requestModel || null }, notes)
      if (body === null) return { refusal: new Error(`line ${number} of the results cannot be read`) }
      if (body.kind === 'body' && body.json === json) return { bytes }
      if (body.kind === 'body') return { bytes: lineOf(form.withResponse(line, { body: parsed(body.json) })) }
      const error = encodeError(errorOf(body))
      return { bytes: lineOf(form.withResponse(line, { error: error.body, status: error.status })) }
    })
  }
}

function parsed(json: string): JsonObject {
  return parseExactObject(json) ?? {}
}

function lineOf(value: JsonObject): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`)
}

/** Returns the format of results in OpenAI's batches. */
export function openAiResults({ formats }: Pick<BatchHost, 'formats'>): ResultForm {
  return {
    responseOf({ response }) {
      if (!isObject(response) || response.status_code !== 200) return null
      return isObject(response.body) ? response.body : null
    },
    withResponse(line, replaced) {
      const response = isObject(line.response) ? line.response : {}
      const [status, body] =
        'body' in replaced ? [response.status_code, replaced.body] : [replaced.status, replaced.error]
      return { ...line, response: { ...response, ...(status !== undefined && { status_code: status }), body } }
    },
    formatOf: ({ object }) => (object === 'response' ? formats.responses : formats.completions),
  }
}

/** Returns the format of results in Anthropic's message batches. */
export function messageResults({ formats }: Pick<BatchHost, 'formats'>): ResultForm {
  return {
    responseOf({ result }) {
      if (!isObject(result) || result.type !== 'succeeded') return null
      return isObject(result.message) ? result.message : null
    },
    withResponse(line, replaced) {
      const result = isObject(line.result) ? line.result : {}
      const next: JsonObject =
        'body' in replaced ? { ...result, message: replaced.body } : { type: 'errored', error: replaced.error }
      return { ...line, result: next }
    },
    formatOf: () => formats.messages,
  }
}

const BUSY = {
  status: 409,
  kind: 'api',
  message: 'another client fetches these results at the moment: try again when it is done',
} as const
const UNAVAILABLE = {
  status: 503,
  kind: 'api',
  message: 'the store of budgets did not answer, so these results cannot be charged: try again',
} as const
