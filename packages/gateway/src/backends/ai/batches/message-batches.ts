import { type JsonObject, UnsupportedField } from '@portico/chat'
import { sourceOf } from '@portico/http'
import { textAt } from '@portico/http/json'
import { targetPath } from '../../../formats/query-parameters.ts'
import type { Failure } from '../../../pipeline/context/failure.ts'
import type { ReadyProvider } from '../provider.ts'
import type { BatchHost } from './batch-host.ts'
import type { StoredResource } from './batch-ids.ts'
import { editMessageBatch, type MessageBatch, readMessageBatch } from './message-batch.ts'
import { ownerOf } from './owner.ts'
import { askOwner, withResource } from './own-resource.ts'
import { ResourceCall, type ResourceRequest } from './resource-call.ts'
import { messageResults, passResults } from './results.ts'

/** Whether a path belongs to Anthropic's API for message batches. */
export function isMessageBatch(path: string): boolean {
  return PATH.test(path)
}

/** Serves requests to Anthropic's API for message batches. */
export function serveMessageBatches(host: BatchHost): void {
  const { method, target } = host.request
  const [, id = '', action = ''] = PATH.exec(targetPath(target)) ?? []
  const name = `${method} messages/batches${id === '' ? '' : '/{id}'}${action === '' ? '' : `/${action}`}`
  const own = (use: (batch: StoredResource) => void): void => withResource(host, { id, kinds: ['batch'] }, use)
  switch (name) {
    case 'POST messages/batches':
      return host.readBody((body) => {
        const batch = readMessageBatch(body)
        if (batch instanceof UnsupportedField) host.fail(unreadable(batch))
        else create(host, batch)
      })
    case 'GET messages/batches/{id}':
    case 'DELETE messages/batches/{id}':
    case 'POST messages/batches/{id}/cancel':
      return own((batch) =>
        askOwner(host, batch, () => (provider) => ({
          ...{ kind: 'batches', resource: resourceOf(batch, action), model: batch.model, body: null },
          method: method === 'POST' ? 'POST' : method === 'DELETE' ? 'DELETE' : 'GET',
          read: (answer) => sealed(host, { ...batch, provider: provider.name }, answer),
        })),
      )
    case 'GET messages/batches/{id}/results':
      return own((batch) =>
        askOwner(host, batch, (call) => (provider) => ({
          ...{ kind: 'batches', method: 'GET', resource: resourceOf(batch, action), model: batch.model, body: null },
          read: () => null,
          pass: (response) => passResults(response, { host, call, provider, file: batch, form: messageResults(host) }),
        })),
      )
    default:
      host.fail(noCall(name))
  }
}

const PATH = /\/messages\/batches(?:\/([^/]+)(?:\/([^/]+))?)?$/

function resourceOf({ id }: StoredResource, action: string): string {
  return `/${encodeURIComponent(id)}${action === '' ? '' : `/${action}`}`
}

/** Sends a batch to the provider of its model. */
function create(host: BatchHost, batch: MessageBatch): void {
  const { rx, format } = host
  rx.spending?.expectUsage(batch.expected)
  const services = host.servicesFor({ name: batch.model, body: batch.first, format })
  if (services === null) return
  const call = host.failoverCall(services)
  const requestFor = (provider: ReadyProvider) =>
    editMessageBatch(batch, { host, provider, call }, (bytes, model): ResourceRequest => ({
      ...{ kind: 'batches', method: 'POST', resource: '', model },
      body: { source: sourceOf(bytes), contentType: 'application/json' },
      read(answer) {
        const createdAt = Date.parse(textAt(answer, 'created_at') ?? '') / 1000
        const known = {
          kind: 'batch',
          id: '',
          model: batch.model,
          owner: ownerOf(rx),
          expected: batch.expected,
        } as const
        return sealed(
          host,
          { ...known, provider: provider.name, createdAt: Number.isFinite(createdAt) ? Math.floor(createdAt) : 0 },
          answer,
        )
      },
    }))
  call.start(new ResourceCall(call, { format, requestFor }))
}

/** Returns the batch with an id that only its owner can use, and with the URL of the results at the gateway. */
function sealed({ rx, services }: BatchHost, known: StoredResource, answer: JsonObject): JsonObject | null {
  const own = textAt(answer, 'id')
  if (own === undefined) return null
  // The request that reads a batch is not charged; the request that fetches the results is.
  if (rx.llm !== null) rx.llm.usage = { input: 0, output: 0 }
  const id = services.ids.write({ ...known, id: own }, 'msgbatch_')
  const hasResults = typeof answer.results_url === 'string'
  // The path alone is enough: client libraries add the address of the gateway, which the gateway does not know for sure.
  return { ...answer, id, ...(hasResults && { results_url: `/v1/messages/batches/${id}/results` }) }
}

function unreadable({ field, message }: UnsupportedField): Failure {
  const text = `failed to process LLM request: ${field} ${message}`
  return { status: 400, message: text, reason: 'InvalidRequest', code: 'unreadable_body' }
}

function noCall(name: string): Failure {
  const message = `the gateway has no call ${name}: message batches can be created, read, cancelled and deleted, but not listed`
  return { status: 404, message, reason: 'NotFound', code: 'no_batch_call' }
}
