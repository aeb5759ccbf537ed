import { type ClientFormat, UnsupportedField, type UpstreamFormat } from '@portico/chat'
import { searchUnitsOf } from '@portico/chat/rerank'
import { decodeBody, hideKey, JsonBody, modelInPath, readJsonBody } from './client-request.ts'
import { withPathMembers } from './gemini-request.ts'
import { RequestReader } from '../../pipeline/body/buffered-body.ts'
import type { BackendIdentity, CompiledBackend } from '../../pipeline/compiled/compiled.ts'
import type { Failure } from '../../pipeline/context/failure.ts'
import type { Reply } from '../../pipeline/context/reply.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { CallContext } from '../../pipeline/context/step.ts'
import { targetPath, targetQuery } from '../../formats/query-parameters.ts'
import { estimatePrompt } from '../../llm/estimate-call.ts'
import { namesModel } from '../../llm/edits/request-edits.ts'
import type { RouteType } from '../../llm/edits/schema.ts'
import { type UpstreamCall, UpstreamError, type UpstreamHandler, type UpstreamRequest } from '@portico/http/client'
import { ChatCall } from './chat/chat-call.ts'
import { type ErrorFormat, sendFailure, sendReply } from './client-response.ts'
import { countTokensJob } from './jobs/count-tokens-job.ts'
import { embeddingsJob } from './jobs/embeddings-job.ts'
import { type CallServices, FailoverCall } from './failover-call.ts'
import { geminiCountJob, type GeminiJobParts } from './jobs/gemini-count-job.ts'
import { geminiEmbeddingsJob } from './jobs/gemini-embeddings-job.ts'
import type { BatchHost, BatchServices } from './batches/batch-host.ts'
import { isMessageBatch, serveMessageBatches } from './batches/message-batches.ts'
import { serveBatches } from './batches/resources.ts'
import { FormCall } from './forms/form-call.ts'
import { FORM_CALLS, type FormKind } from './forms/form-calls.ts'
import { FormHandler, readForm } from './forms/read-form.ts'
import { expectedMedia, mediaJob, type MediaKind } from './jobs/media-job.ts'
import { modelsJob } from './jobs/models-job.ts'
import { moderationsJob } from './jobs/moderations-job.ts'
import { rerankJob } from './jobs/rerank-job.ts'
import { RawCall } from './raw-call.ts'
import { RealtimeCall } from './realtime-call.ts'
import { keyAllows, refuseForKey } from './models/key-models.ts'
import type { ModelRequest, ModelRouter } from './models/model-router.ts'
import { modelOfRaw } from './models/raw-model.ts'
import { createTellFailure } from './tell-failure.ts'
import { WholeCall, type WholeJob } from './jobs/whole-call.ts'

export interface AiServices {
  /** Null when the config does not map the path. */
  routeType: (path: string) => RouteType | null
  clientFormats: Readonly<Record<'completions' | 'messages' | 'responses' | 'gemini', ClientFormat & UpstreamFormat>>
  calls: CallServices
  /** Model names from the config; when there are none, the provider's list is used. */
  models: readonly string[]
  /** Finds the provider by the model of the request; null when the backend has no `models`. */
  router: ModelRouter | null
  batches: BatchServices
}

/** A backend of language models: the path tells the client's format, the provider tells the upstream format. */
export function aiBackend(identity: BackendIdentity, services: AiServices): CompiledBackend {
  return {
    ...identity,
    tellFailure: createTellFailure(services.routeType, services.clientFormats),
    needsName: false,
    requestTimeoutMs: 0,
    hostname: null,
    send(request, context, handler) {
      const { rx } = context
      if (rx === undefined) {
        // Mirrored requests are refused: a model call costs money, and nobody reads the response.
        handler.failed(new UpstreamError('bad_response', 'model backends take no mirrored requests', true))
        return NOTHING
      }
      return new AiCall({ rx, request, context, handler }, services).start()
    },
    connect(_destination, _context, done) {
      done(new UpstreamError('bad_response', 'model backends have no tunnels', true))
      return NOTHING
    },
  }
}

const NOTHING: UpstreamCall = { cancel() {} }

interface CallParts {
  rx: RequestContext
  request: UpstreamRequest
  context: CallContext
  handler: UpstreamHandler
}

/** Determines the kind of call and delegates to its implementation. */
class AiCall extends RequestReader implements UpstreamCall {
  protected readonly rx: RequestContext
  readonly #parts: CallParts
  readonly #services: AiServices
  /** The consumer of the body, and the failure for a body that is not JSON. */
  #use: ((body: JsonBody) => void) | null = null
  #failure: Failure | null = null
  #inner: UpstreamCall | null = null
  #isCancelled = false

  constructor(parts: CallParts, services: AiServices) {
    super()
    this.rx = parts.rx
    this.#parts = parts
    this.#services = services
  }

  start(): UpstreamCall {
    const { request } = this.#parts
    const { clientFormats, routeType } = this.#services
    const path = targetPath(request.target)
    hideKey(this.rx)
    switch (routeType(path)) {
      case null:
        this.#unmapped(path)
        break
      case 'Completions':
        this.#chat(clientFormats.completions)
        break
      case 'Messages':
        this.#chat(clientFormats.messages)
        break
      case 'Responses':
        this.#chat(clientFormats.responses)
        break
      case 'GenerateContent':
        this.#readGemini((body) => this.#chatOf(clientFormats.gemini, body))
        break
      case 'GeminiTokenCount':
        this.#readGemini((body) =>
          this.#wholeOf(clientFormats.gemini, body, geminiCountJob(this.#geminiJob(body), clientFormats.gemini)),
        )
        break
      case 'GeminiEmbeddings':
        this.#readGemini((body) => {
          this.rx.spending?.expectUsage(sizeOf(body))
          this.#wholeOf(
            clientFormats.gemini,
            body,
            geminiEmbeddingsJob(this.#geminiJob(body), clientFormats.gemini, this.#services.calls),
          )
        })
        break
      case 'Passthrough':
        this.#raw(false)
        break
      case 'Detect':
        this.#raw(true)
        break
      case 'Realtime':
        this.#realtime(clientFormats.completions)
        break
      case 'Batches':
        if (isMessageBatch(path)) serveMessageBatches(this.#batchHost(clientFormats.messages))
        else serveBatches(this.#batchHost(clientFormats.completions))
        break
      case 'Models':
        this.#listModels()
        break
      case 'Embeddings':
        this.#whole(clientFormats.completions, (body) => {
          this.rx.spending?.expect(body.value, null)
          return embeddingsJob({ body, target: request.target, rx: this.#parts.rx }, clientFormats.completions)
        })
        break
      case 'ImageGenerations':
        this.#media('imageGenerations')
        break
      case 'ImageEdits':
        // Images may also be named by address or id, in JSON.
        if (/^application\/json\b/i.test(request.headers.get('content-type') ?? '')) this.#media('imageEdits')
        else this.#form('imageEdits')
        break
      case 'ImageVariations':
        this.#form('imageVariations')
        break
      case 'Speech':
        this.#media('speech')
        break
      case 'Transcriptions':
        this.#form('transcriptions')
        break
      case 'Translations':
        this.#form('translations')
        break
      case 'Moderations':
        this.#whole(clientFormats.completions, (body) => {
          this.rx.spending?.expectUsage({ ...sizeOf(body), calls: 1 })
          return moderationsJob({ body, target: request.target, rx: this.#parts.rx }, clientFormats.completions)
        })
        break
      case 'Rerank':
        this.#whole(clientFormats.completions, (body) => {
          const documents = Array.isArray(body.value.documents) ? body.value.documents : []
          this.rx.spending?.expectUsage({ ...sizeOf(body), calls: 1, searchUnits: searchUnitsOf(documents) })
          return rerankJob({ body, target: request.target, rx: this.#parts.rx }, this.#services.calls)
        })
        break
      case 'MessagesTokenCount':
        this.#whole(clientFormats.messages, (body) =>
          countTokensJob(
            { body, target: request.target, headers: request.headers, rx: this.#parts.rx },
            clientFormats.messages,
          ),
        )
        break
    }
    return this
  }

  cancel(cause: Error): void {
    this.#isCancelled = true
    this.#inner?.cancel(cause)
  }

  #raw(detects: boolean): void {
    const { calls, router } = this.#services
    if (router === null) return this.#rawOfKey(detects)
    const { request, rx } = this.#parts
    const start = (body: JsonBody | null): void => {
      if (body !== null) request.body = rx.body
      const routed = router.routeRaw(request, body, rx)
      if ('status' in routed) this.#fail(routed)
      else this.#startRaw(detects, { ...calls, providers: routed })
    }
    if (router.needsBody(request)) this.#readBody(start)
    else start(null)
  }

  /** A call without `ai.models`. For a key that is limited to some models, the name of the model is read. */
  #rawOfKey(detects: boolean): void {
    const { request, rx } = this.#parts
    const start = (body: JsonBody | null): void => {
      if (body !== null) request.body = rx.body
      const refusal = rx.keyUse === null ? null : refuseForKey(rx, modelOfRaw(request, body))
      if (refusal === null) this.#startRaw(detects, this.#services.calls)
      else this.#fail(refusal)
    }
    const isLimited = rx.keyUse?.limitsModels === true
    const needsBody = isLimited && request.body.length !== 0 && modelOfRaw(request, null) === null
    if (needsBody) this.#readBody(start)
    else start(null)
  }

  #startRaw(detects: boolean, services: CallServices): void {
    const call = new RawCall({ ...this.#parts, detects }, services)
    this.#inner = call
    call.start()
  }

  #realtime(format: ClientFormat): void {
    const { request } = this.#parts
    const name = new URLSearchParams(targetQuery(request.target)).get('model')
    const services = this.#servicesFor({ name, body: null, format })
    if (services === null) return
    // A body that was sent to one provider cannot be sent to another.
    const call = this.#failoverCall(format, services, () => request.body.length === 0)
    call.start(new RealtimeCall(call, request))
  }

  #listModels(): void {
    const { target, headers } = this.#parts.request
    const { clientFormats, calls, models: configured, router } = this.#services
    if (router !== null) return this.#parts.handler.responded(router.answerList(this.#parts.request, this.rx))
    const allows = (name: string): boolean => keyAllows(this.rx, name)
    const isLimited = this.rx.keyUse?.limitsModels === true
    this.#runJob(
      modelsJob({ target, headers, configured, allows: isLimited ? allows : null }, clientFormats, calls),
      calls,
    )
  }

  #runJob(job: WholeJob, services: CallServices): void {
    const call = this.#failoverCall(job.format, services)
    call.start(new WholeCall(call, job))
  }

  #failoverCall(format: ErrorFormat, services: CallServices, isRepeatable?: () => boolean): FailoverCall {
    const { rx, request, context, handler } = this.#parts
    const parts = { rx, headers: request.headers, context, handler }
    const call = new FailoverCall(parts, services, { format, ...(isRepeatable !== undefined && { isRepeatable }) })
    this.#inner = call
    return call
  }

  /** The services of a call, with the providers of its model; null when the request was refused. */
  #servicesFor(request: ModelRequest): CallServices | null {
    const { calls, router } = this.#services
    if (router === null) {
      const refusal = this.rx.keyUse === null ? null : refuseForKey(this.rx, request.name)
      if (refusal === null) return calls
      this.#fail(refusal)
      return null
    }
    const providers = router.route(request, this.rx)
    if (!('status' in providers)) return { ...calls, providers }
    this.#fail(providers)
    return null
  }

  #servicesForBody(format: ClientFormat, { value: body }: JsonBody): CallServices | null {
    const name = namesModel(body) ? body.model : modelInPath(targetPath(this.#parts.request.target))
    return this.#servicesFor({ name, body, format })
  }

  #chat(format: ClientFormat): void {
    this.#readBody((body) => this.#chatOf(format, body))
  }

  #chatOf(format: ClientFormat, body: JsonBody): void {
    const services = this.#servicesForBody(format, body)
    if (services === null) return
    const { target, headers } = this.#parts.request
    this.rx.spending?.expect(body.value, format)
    const call = this.#failoverCall(format, services)
    call.start(new ChatCall(call, { format, body, target, headers }))
  }

  /** Handles a path without a route type: a chat is served on any path; other requests need a configured route. */
  #unmapped(path: string): void {
    const failure = noRouteType(path)
    const { router } = this.#services
    const named = router?.answerModel(this.#parts.request, this.rx) ?? null
    if (named !== null) return 'message' in named ? this.#fail(named) : this.#parts.handler.responded(named)
    const type = this.#parts.request.headers.get('content-type')
    if (type !== null && !/json|^text\/plain/i.test(type)) return this.#fail(failure)
    this.#readBody((body) => {
      if (Object.hasOwn(body.value, 'messages')) this.#chatOf(this.#services.clientFormats.completions, body)
      else this.#fail(failure)
    }, failure)
  }

  #whole(format: ClientFormat, jobOf: (body: JsonBody) => WholeJob): void {
    this.#readBody((body) => {
      const services = this.#servicesForBody(format, body)
      if (services !== null) this.#runJob(jobOf(body), services)
    })
  }

  #wholeOf(format: ClientFormat, body: JsonBody, job: WholeJob): void {
    const services = this.#servicesForBody(format, body)
    if (services !== null) this.#runJob(job, services)
  }

  /** Reads a request to Google's API, whose path names the model. */
  #readGemini(use: (body: JsonBody) => void): void {
    this.#readBody((body) => {
      const whole = withPathMembers(body, this.#parts.request.target)
      if (whole instanceof JsonBody) use(whole)
      else this.#fail(whole)
    })
  }

  #geminiJob(body: JsonBody): GeminiJobParts {
    const { target, headers } = this.#parts.request
    return { body, target, headers, rx: this.rx }
  }

  #media(kind: MediaKind): void {
    const { target } = this.#parts.request
    const { completions } = this.#services.clientFormats
    this.#whole(completions, (body) => {
      this.rx.spending?.expectUsage(expectedMedia(kind, body.value))
      return mediaJob({ kind, body, target, rx: this.rx }, completions)
    })
  }

  #form(kind: FormKind): void {
    const { rx, request, handler } = this.#parts
    const { completions: format } = this.#services.clientFormats
    const form = readForm(request, kind, this.#services.calls.maxBytes)
    if (form instanceof UnsupportedField) return this.#fail(unreadable(form))
    this.#parts.handler = new FormHandler(handler, form)
    this.#inner = { cancel: (cause) => form.discard(cause) }
    // The model decides about the provider, so that nothing is sent before it is known.
    form.hold({ fields: ['model'], isWhole: false }, (problem) => {
      if (this.#isCancelled) return
      if (problem !== null) return this.#fail(unreadable(problem))
      const { fields } = form
      const pathModel = modelInPath(targetPath(request.target))
      const services = this.#servicesFor({ name: namesModel(fields) ? fields.model : pathModel, body: fields, format })
      if (services === null) return
      rx.spending?.expectUsage(FORM_CALLS[kind].expected(fields, form.files))
      const call = this.#failoverCall(format, services, () => form.isRepeatable)
      form.refused = (why) => call.refuseRequest(why)
      call.start(new FormCall(call, { kind, form, pathModel, target: request.target, format }))
    })
  }

  #batchHost(format: ClientFormat & UpstreamFormat): BatchHost {
    const { rx, request } = this.#parts
    const { clientFormats, calls, batches, routeType } = this.#services
    return {
      ...{ rx, request, format, formats: clientFormats, services: batches, calls, routeType },
      servicesFor: (asked) => this.#servicesFor(asked),
      failoverCall: (services) => this.#failoverCall(format, services, () => false),
      readBody: (use) => this.#readBody(use),
      fail: (failure) => this.#fail(failure),
      holds: (call) => (this.#inner = call),
      wrapHandler: (wrap) => (this.#parts.handler = wrap(this.#parts.handler)),
    }
  }

  /** Reads the whole body as JSON; any other body is refused, with `failure` if it is given. */
  #readBody(use: (body: JsonBody) => void, failure: Failure | null = null): void {
    this.#use = use
    this.#failure = failure
    this.readRequest(this.#services.calls.maxBytes)
  }

  protected bodyRead(refusal: Reply | undefined): void {
    if (this.#isCancelled) return
    const { rx } = this
    if (refusal !== undefined) return sendReply(rx, this.#parts.handler, refusal)
    const { maxBytes } = this.#services.calls
    const bytes = decodeBody(rx.bufferedBody?.whole ?? NO_BYTES, rx.headers.get('content-encoding'), maxBytes)
    if ('status' in bytes) return this.#fail(bytes)
    const body = readJsonBody(bytes)
    if (body instanceof UnsupportedField) this.#fail(this.#failure ?? unreadable(body))
    else this.#use?.(body)
  }

  #fail(failure: Failure): void {
    sendFailure(this.#parts.rx, this.#parts.handler, failure)
  }
}

/** The estimated tokens of a request that is not a chat. */
function sizeOf({ value }: JsonBody): { input: number; output: number } {
  return { input: estimatePrompt(value, null), output: 0 }
}

const NO_BYTES = Buffer.alloc(0)

function noRouteType(path: string): Failure {
  const message =
    `failed to process LLM request: the path ${path.slice(0, MAX_NAMED_PATH)} has no route type, and the body is no chat: ` +
    'name the end of the path in `ai.routes` of the backend, with `Passthrough` to let it pass as it is'
  return { status: 400, message, reason: 'InvalidRequest', code: 'no_route_type' }
}

const MAX_NAMED_PATH = 200

function unreadable({ field, message }: UnsupportedField): Failure {
  const text = `failed to process LLM request: ${field} ${message}`
  return { status: 400, message: text, reason: 'InvalidRequest', code: 'unreadable_body' }
}
