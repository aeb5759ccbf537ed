import type { ClientFormat, UpstreamFormat } from '@portico/chat'
import type { UpstreamCall, UpstreamHandler, UpstreamRequest } from '@portico/http/client'
import type { RouteType } from '../../../llm/edits/schema.ts'
import type { Failure } from '../../../pipeline/context/failure.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { JsonBody } from '../client-request.ts'
import type { CallServices, FailoverCall } from '../failover-call.ts'
import type { ModelRequest } from '../models/model-router.ts'
import type { ChosenProvider } from '../provider-attempts.ts'
import type { SealedIds } from './batch-ids.ts'
import type { ResultCharges } from './result-charges.ts'

/** The services of a backend that serves files and batches. */
export interface BatchServices {
  readonly ids: SealedIds
  /** Charges the results of batches; null when nothing has a price or a budget. */
  readonly charges: ResultCharges | null
  /** Returns the provider with this name in the config, with a lease; null when the config has no such provider. */
  choose(name: string): ChosenProvider | null
}

/** A client's request about files or batches, with the services to answer it. */
export interface BatchHost {
  readonly rx: RequestContext
  readonly request: UpstreamRequest
  readonly format: ClientFormat & UpstreamFormat
  readonly formats: Readonly<Record<'completions' | 'messages' | 'responses', ClientFormat & UpstreamFormat>>
  readonly services: BatchServices
  readonly calls: CallServices
  routeType(path: string): RouteType | null
  /** Returns the services of a call to a model; null when the request was refused. */
  servicesFor(request: ModelRequest): CallServices | null
  failoverCall(services: CallServices): FailoverCall
  readBody(use: (body: JsonBody) => void): void
  fail(failure: Failure): void
  /** Sets the call that is cancelled when the request ends, until a model call begins. */
  holds(call: UpstreamCall): void
  /** Wraps the handler that receives the response of the provider. */
  wrapHandler(wrap: (handler: UpstreamHandler) => UpstreamHandler): void
}
