import type { UpstreamRequest } from '@portico/http/client'
import type { SigningScope } from '../cloud-credentials.ts'
import type { Failure } from './failure.ts'
import type { RequestContext } from './request-context.ts'
import type { Step } from './step.ts'

/** One attempt as it leaves for the backend, with headers of its own: a retry starts again from the request. */
export type OutgoingRequest = UpstreamRequest

/** What a backend policy does to each attempt, and to the response that the client gets. */
export interface BackendStep extends Pick<Step, 'response' | 'requestBody' | 'responseBody'> {
  request?: AttemptStep
  /** Behind the `request` of every policy, over what is really sent: nothing changes after it. */
  sign?: AttemptStep
}

/** A failure ends the request; nothing is sent. */
export type AttemptStep = (outgoing: OutgoingRequest, rx: RequestContext) => Failure | void | Promise<Failure | void>

/** What policies may know of the backend they are for. The config alone says it, never a client. */
export interface BackendPlace {
  /** False where clients choose it. */
  isFixed: boolean
  /** Name or address without port; null where it has none. */
  host: string | null
  /** How the cloud it stands in calls it, where its kind tells. */
  signing?: SigningScope
}
