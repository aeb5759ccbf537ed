import { type JsonObject, UnsupportedField } from '@portico/chat'
import type { HeaderBlock, RawConnection } from '@portico/http'
import type { UpstreamError, UpstreamHandler, UpstreamResponse } from '@portico/http/client'
import { textAt } from '@portico/http/json'
import { readBoundary } from '@portico/http/multipart'
import { estimatePrompt, outputMaximum } from '../../../llm/estimate-call.ts'
import type { Failure } from '../../../pipeline/context/failure.ts'
import type { FailoverCall } from '../failover-call.ts'
import type { ReadyProvider } from '../provider.ts'
import type { BatchHost } from './batch-host.ts'
import { type BatchCallType, batchCallType, type BatchLine, createLineCheck, readBatchLine } from './batch-line.ts'
import { createLineGuard } from './guard-line.ts'
import { ownerOf } from './owner.ts'
import { ResourceCall, type ResourceRequest } from './resource-call.ts'
import { UploadForm } from './upload-form.ts'

/** Sends the file of a batch to the provider of its model. The first request in the file names the model. */
export function upload(host: BatchHost): void {
  const { request, calls } = host
  const encoding = request.headers.joined('content-encoding')
  // A compressed file is refused, because decoding needs a size limit, and batch files have none.
  if (encoding !== null && !/^identity$/i.test(encoding)) {
    return host.fail(unreadable(new UnsupportedField('body', 'must not be compressed')))
  }
  const read = readBoundary(request.headers.joined('content-type'))
  if ('problem' in read) return host.fail(unreadable(new UnsupportedField('body', read.problem)))
  /** The model call; null until the first request in the file has named the model. */
  const begun: { call: FailoverCall | null } = { call: null }
  const form = new UploadForm(request.body, {
    boundary: read.boundary,
    newBoundary: calls.newBoundary(BOUNDARY),
    maxLine: calls.maxBytes,
    opened: (line) => begin(host, { form, begun }, line),
    refused(why) {
      const { call } = begun
      if (!(why instanceof UnsupportedField)) call?.rejectRequest(why)
      else if (call !== null) call.refuseRequest(why)
      else host.fail(unreadable(why))
    },
    failed: (error) => {
      calls.bug(error)
      begun.call?.refuseRequest(new UnsupportedField('file', 'could not be checked'))
    },
  })
  host.wrapHandler((handler) => new UploadHandler(handler, form))
  host.holds({ cancel: (cause) => form.discard(cause) })
  form.open()
}

/** Starts the model call for the model of the first request, or refuses the file. */
function begin(
  host: BatchHost,
  { form, begun }: { form: UploadForm; begun: { call: FailoverCall | null } },
  bytes: Buffer,
): void {
  const refuse = (why: UnsupportedField): void => {
    form.discard(REFUSED)
    host.fail(unreadable(why))
  }
  const first = readBatchLine(bytes, 1)
  if (first instanceof UnsupportedField) return refuse(first)
  const type = batchCallType(first.url, (path) => host.routeType(path))
  if (type === null) {
    return refuse(new UnsupportedField('file', `line 1 is for ${first.url}, which is no call of a batch here`))
  }
  const format = host.formats[type === 'Responses' ? 'responses' : 'completions']
  const services = host.servicesFor({ name: first.model, body: first.body, format })
  if (services === null) return form.discard(REFUSED)
  const call = host.failoverCall(services)
  // `call.start` may refuse the call before it returns, so `begun` is set first.
  begun.call = call
  const parts = { host, form, first, type, call }
  call.start(new ResourceCall(call, { format: host.format, requestFor: (provider) => requestFor(provider, parts) }))
}

interface SentParts {
  readonly host: BatchHost
  readonly form: UploadForm
  readonly first: BatchLine
  readonly type: BatchCallType
  readonly call: FailoverCall
}

function requestFor(provider: ReadyProvider, parts: SentParts): ResourceRequest | UnsupportedField {
  const { host, form, first, type, call } = parts
  const { rx } = host
  const { edits, guards, vendor } = provider
  if (!vendor.calls.has('files')) return new UnsupportedField('path', `${vendor.name} has no files and batches`)
  const isChat = type === 'Completions' || type === 'Responses'
  if (isChat && edits.shape !== null) return SHAPED
  if (provider.connection.requestBody !== 'none') return READ_WHOLE
  const format = isChat ? host.formats[type === 'Responses' ? 'responses' : 'completions'] : null
  const expected = { input: 0, output: 0 }
  const guard = guards.request === null ? null : createLineGuard(guards.request, type, { call, formats: host.formats })
  form.begin(
    createLineCheck({
      first,
      edit: (body) => edits.request(body, null, rx),
      guard,
      accepted(body) {
        expected.input += estimatePrompt(body, format)
        expected.output += format === null ? 0 : outputMaximum(body, ASSUMED_OUTPUT)
      },
    }),
  )
  return {
    ...{ kind: 'files', method: 'POST', resource: '', model: edits.request(first.body, null, rx).model },
    body: { source: form, contentType: form.contentType },
    read(answer: JsonObject) {
      const id = textAt(answer, 'id')
      if (id === undefined) return null
      const file = {
        ...{ kind: 'file' as const, id, provider: provider.name, model: first.model, owner: ownerOf(rx), createdAt: 0 },
        expected,
      }
      return { ...answer, id: host.services.ids.write(file, 'file-') }
    },
  }
}

/** The response handler of an upload; after the response, it drops the rest of the client's file. */
class UploadHandler implements UpstreamHandler {
  readonly #handler: UpstreamHandler
  readonly #form: UploadForm

  constructor(handler: UpstreamHandler, form: UploadForm) {
    this.#handler = handler
    this.#form = form
  }

  informed(status: number, headers: HeaderBlock): void {
    this.#handler.informed(status, headers)
  }

  responded(response: UpstreamResponse): void {
    this.#form.discard(ANSWERED)
    this.#handler.responded(response)
  }

  upgraded(status: number, headers: HeaderBlock, raw: RawConnection, protocol: string): void {
    this.#handler.upgraded(status, headers, raw, protocol)
  }

  failed(error: UpstreamError): void {
    this.#handler.failed(error)
  }
}

function unreadable({ field, message }: UnsupportedField): Failure {
  const text = `failed to process LLM request: ${field} ${message}`
  return { status: 400, message: text, reason: 'InvalidRequest', code: 'unreadable_body' }
}

const SHAPED = new UnsupportedField(
  'file',
  'cannot be sent: the `prompt` or `promptCaching` of the backend would not apply to its requests',
)
const READ_WHOLE = new UnsupportedField('file', 'cannot be sent: a policy of the backend reads whole bodies')
const REFUSED = new Error('request refused')
const ANSWERED = new Error('the client has its response')
const BOUNDARY = 32
/** The output tokens that are assumed for a request without a maximum, as in `budget.outputTokens`. */
const ASSUMED_OUTPUT = 4_096
