import type { JsonObject } from '@portico/chat'
import { sourceOf } from '@portico/http'
import { textAt } from '@portico/http/json'
import { targetPath } from '../../../formats/query-parameters.ts'
import type { Failure } from '../../../pipeline/context/failure.ts'
import type { ReadyProvider } from '../provider.ts'
import type { BatchHost } from './batch-host.ts'
import type { StoredResource } from './batch-ids.ts'
import { ownerOf } from './owner.ts'
import { askOwner, notFound, withResource } from './own-resource.ts'
import type { ResourceRequest } from './resource-call.ts'
import { openAiResults, passResults } from './results.ts'
import { upload } from './upload.ts'

/** Serves requests to OpenAI's API for files and batches. */
export function serveBatches(host: BatchHost): void {
  const { method, target } = host.request
  const [, list = '', id = '', action = ''] = PATH.exec(targetPath(target)) ?? []
  const name = `${method} ${list}${id === '' ? '' : '/{id}'}${action === '' ? '' : `/${action}`}`
  switch (name) {
    case 'POST files':
      return upload(host)
    case 'GET files/{id}':
    case 'DELETE files/{id}':
      return withResource(host, { id, kinds: FILES }, (file) =>
        askOwner(host, file, () => () => fileRequest(host, file, id)),
      )
    case 'GET files/{id}/content':
      return withResource(host, { id, kinds: FILES }, (file) => content(host, file))
    case 'POST batches':
      return host.readBody(({ value }) => createBatch(host, value))
    case 'GET batches/{id}':
    case 'POST batches/{id}/cancel':
      return withResource(host, { id, kinds: BATCHES }, (batch) => {
        const resource = `/${encodeURIComponent(batch.id)}${action === '' ? '' : '/cancel'}`
        askOwner(host, batch, () => (provider) => batchRequest(host, batch, { provider, method, resource, body: null }))
      })
    default:
      host.fail(noCall(name))
  }
}

const PATH = /\/(files|batches)(?:\/([^/]+)(?:\/([^/]+))?)?$/
const FILES = ['file', 'result'] as const
const BATCHES = ['batch'] as const

function fileRequest({ request }: BatchHost, file: StoredResource, id: string): ResourceRequest {
  return {
    ...{ kind: 'files', model: file.model, body: null, resource: `/${encodeURIComponent(file.id)}` },
    method: request.method === 'DELETE' ? 'DELETE' : 'GET',
    read: (answer) => ({ ...answer, id }),
  }
}

function content(host: BatchHost, file: StoredResource): void {
  askOwner(host, file, (call) => (provider) => ({
    ...{ kind: 'files', method: 'GET', model: file.model, body: null },
    resource: `/${encodeURIComponent(file.id)}/content`,
    read: () => null,
    pass(response) {
      if (file.kind === 'result') {
        return passResults(response, { host, call, provider, file, form: openAiResults(host) })
      }
      call.attempts.lease?.ended()
      call.client.send(response.status, response.headers.clone(), response.body)
    },
  }))
}

function createBatch(host: BatchHost, body: JsonObject): void {
  const { rx, services } = host
  const id = textAt(body, 'input_file_id') ?? ''
  const file = services.ids.read(id, ['file'], ownerOf(rx))
  if (file === null) return host.fail(notFound('file', id))
  rx.spending?.expectUsage(file.expected)
  const sent = { ...body, input_file_id: file.id }
  askOwner(
    host,
    file,
    () => (provider) => batchRequest(host, file, { provider, method: 'POST', resource: '', body: sent }),
  )
}

interface BatchParts {
  readonly provider: ReadyProvider
  readonly method: string
  readonly resource: string
  readonly body: JsonObject | null
}

/** Returns the provider request whose response is a batch. */
function batchRequest(
  host: BatchHost,
  known: StoredResource,
  { provider, method, resource, body }: BatchParts,
): ResourceRequest {
  const { rx } = host
  return {
    ...{ kind: 'batches', method: method === 'POST' ? 'POST' : 'GET', resource, model: known.model },
    body:
      body === null ? null : { source: sourceOf(Buffer.from(JSON.stringify(body))), contentType: 'application/json' },
    read(answer) {
      // The request that reads a batch is not charged; the request that fetches the results is.
      if (rx.llm !== null) rx.llm.usage = { input: 0, output: 0 }
      return sealedBatch(host, { ...known, provider: provider.name }, answer)
    },
  }
}

/** Returns the batch with ids that only its owner can use, in place of the provider's ids. */
function sealedBatch({ services }: BatchHost, known: StoredResource, answer: JsonObject): JsonObject | null {
  const id = textAt(answer, 'id')
  if (id === undefined) return null
  const createdAt = typeof answer.created_at === 'number' ? answer.created_at : 0
  const sealed = (kind: StoredResource['kind'], own: string): string =>
    services.ids.write({ ...known, kind, id: own, createdAt }, kind === 'batch' ? 'batch_' : 'file-')
  const batch: JsonObject = { ...answer, id: sealed('batch', id) }
  for (const [name, kind] of FILES_OF_BATCH) {
    const own = textAt(answer, name)
    if (own !== undefined && own !== '') batch[name] = sealed(kind, own)
  }
  return batch
}

const FILES_OF_BATCH = [
  ['input_file_id', 'file'],
  ['output_file_id', 'result'],
  ['error_file_id', 'result'],
] as const

function noCall(name: string): Failure {
  const message = `the gateway has no call ${name}: files can be uploaded, read and deleted, batches created, read and cancelled`
  return { status: 404, message, reason: 'NotFound', code: 'no_batch_call' }
}
