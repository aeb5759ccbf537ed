import type { ClientFormat, JsonObject } from '@portico/chat'
import { estimatePrompt } from '../../../llm/estimate-call.ts'
import type { Failure } from '../../../pipeline/context/failure.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { Expression } from '../../../pipeline/context/step.ts'
import { LlmRecord } from '../../../records/llm-record.ts'
import { nearest } from '../../../formats/suggest.ts'
import type { UpstreamRequest, UpstreamResponse } from '@portico/http/client'
import type { ChoiceServices, ProviderChoice } from '../provider-attempts.ts'
import type { JsonBody } from '../client-request.ts'
import { answerList, answerModel, askedModel } from './answer-models.ts'
import { ModelChoice } from './model-choice.ts'
import type { ModelRoute } from './model-route.ts'
import { notAllowed } from './key-models.ts'
import { modelOfRaw, renameModel } from './raw-model.ts'
import { ModelNames, type NamedModel } from '../../../formats/model-names.ts'

/** A request whose model decides about its provider. */
export interface ModelRequest {
  /** The model that the client named, or null. */
  name: string | null
  /** The parsed body; null when the body is not read, or not JSON. */
  body: JsonObject | null
  /** The client's format; null when the gateway does not translate the request. */
  format: ClientFormat | null
}

/** The name of a model in a request, without the model. */
export type AskedName = Omit<NamedModel<unknown>, 'model'>

/** A model of the config, ready for calls. */
export interface ReadyModel {
  readonly name: string
  readonly isPublic: boolean
  /** Null when all clients may use the model. */
  readonly allow: Expression | null
  /** The route for a name that the model matches; null when nothing names a model for the provider. */
  routeOf(asked: AskedName): ModelRoute | null
}

interface RouterServices extends ChoiceServices {
  clock: () => number
}

/** Finds the provider of a request by the model that the client names. */
export class ModelRouter {
  readonly #names: ModelNames<ReadyModel>
  readonly #services: RouterServices

  constructor(models: readonly ReadyModel[], services: RouterServices) {
    this.#names = new ModelNames(models)
    this.#services = services
  }

  /** The providers to try for a request, or the reason why there is none. */
  route({ name, body, format }: ModelRequest, rx: RequestContext): ModelChoice | Failure {
    const record = (rx.llm ??= new LlmRecord())
    rx.llmRequest = body
    record.estimatePrompt = () => estimatePrompt(body, format)
    const found = this.#find(name ?? '', rx)
    if ('status' in found) return found
    // A request that passes unchanged may do without a model.
    const isUnnamed = name === null && format === null
    const route = found.model.routeOf(isUnnamed ? { ...found, ownName: '*', star: '*' } : found)
    if (route === null) return refuse(rx, MISSING)
    const choice = new ModelChoice(route, { rx, record, services: this.#services })
    return choice.isEmpty ? refuse(rx, noTarget(record.requestModel), { choice: choice.exclusions }) : choice
  }

  /** Whether the model of a request that passes unchanged is in its body. */
  needsBody(request: UpstreamRequest): boolean {
    const { headers, body } = request
    return modelOfRaw(request, null) === null && body.length !== 0 && JSON_TYPE.test(headers.get('content-type') ?? '')
  }

  /** Routes a request that passes unchanged, except for the name of the model. */
  routeRaw(request: UpstreamRequest, body: JsonBody | null, rx: RequestContext): ProviderChoice | Failure {
    const name = modelOfRaw(request, body)
    const choice = this.route({ name, body: body?.value ?? null, format: null }, rx)
    if ('status' in choice) return choice
    const chosen = choice.next(new Set())
    if (chosen !== null && name !== null) {
      const { model: sent } = chosen.provider.edits.request({ model: name }, null, rx)
      renameModel(request, body, { name, sent, rx })
    }
    // The request has the name of one model now, so it is for one provider.
    return { count: 1, next: (tried) => (tried.size === 0 ? chosen : null) }
  }

  /** The response to a request for the list of models: those that the client may use. */
  answerList(request: UpstreamRequest, rx: RequestContext): UpstreamResponse {
    return answerList(request, [...this.#usable(rx)], this.#seconds())
  }

  /** The response to a request for one model; null when the request asks for something else. */
  answerModel(request: UpstreamRequest, rx: RequestContext): UpstreamResponse | Failure | null {
    const name = askedModel(request)
    if (name === null) return null
    const found = this.#find(name, rx)
    return 'status' in found ? found : answerModel(request, name, this.#seconds())
  }

  /**
   * The model that a request names, if the client may use it. Requests without a model are for the pattern of all
   * names, if the config has it.
   */
  #find(asked: string, rx: RequestContext): NamedModel<ReadyModel> | Failure {
    const name = asked.slice(0, LONGEST_NAME)
    const record = (rx.llm ??= new LlmRecord())
    record.requestModel = record.clientModel = name
    const found = asked.length > LONGEST_NAME ? null : this.#names.find(name === '' ? '*' : name)
    if (found === null || !found.model.isPublic) return name === '' ? refuse(rx, MISSING) : this.#notFound(name, rx)
    if (!isAllowed(found.model, rx, name)) return refuse(rx, notAllowed(name))
    return name === '' ? { ...found, name, ownName: '', star: '' } : found
  }

  *#usable(rx: RequestContext): Generator<string> {
    const record = (rx.llm ??= new LlmRecord())
    const asked = record.requestModel
    for (const model of this.#names.exact) {
      record.requestModel = model.name
      if (model.isPublic && isAllowed(model, rx, model.name)) yield model.name
    }
    record.requestModel = asked
  }

  /** A name that the client may not use is not suggested, because the client does not know that it exists. */
  #notFound(name: string, rx: RequestContext): Failure {
    const near = nearest(name, this.#usable(rx))
    const hint = near === null ? '' : `; did you mean \`${near}\`?`
    const message = `the model \`${name}\` does not exist${hint}`
    return refuse(rx, { status: 404, message, reason: 'NotFound', code: 'model_not_found' }, { nearest: near })
  }

  #seconds(): number {
    return Math.floor(this.#services.clock() / 1000)
  }
}

/** Notes the reason of a refusal for the record. */
function refuse(rx: RequestContext, failure: Failure, values: object = {}): Failure {
  rx.notes = { code: failure.code, model: rx.llm?.requestModel ?? '', ...values }
  return failure
}

function isAllowed({ allow }: ReadyModel, rx: RequestContext, name: string): boolean {
  return (rx.keyUse === null || rx.keyUse.allowsModel(name)) && (allow === null || allow.isTrue(rx))
}

const MISSING: Failure = {
  status: 400,
  message: 'the request names no model: set `model`',
  reason: 'InvalidRequest',
  code: 'missing_model',
}

function noTarget(name: string): Failure {
  const message = `no target of the model \`${name}\` takes this request`
  return { status: 400, message, reason: 'InvalidRequest', code: 'no_model_target' }
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i
/** Longest model name in messages and records, in characters; clients choose the name. */
const LONGEST_NAME = 256
