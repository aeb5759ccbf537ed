import type { UpstreamRequest } from '@portico/http/client'
import type { SigningScope } from '../cloud-credentials.ts'
import type { Failure } from './failure.ts'
import type { RequestContext } from './request-context.ts'
import type { Step } from './step.ts'

/** One attempt as it leaves for the backend, with headers of its own: a retry starts again from the request. */
export type OutgoingRequest = UpstreamRequest

/** The behavior of a backend policy for each attempt, and for the response to the client. */
export interface BackendStep extends Pick<Step, 'response' | 'requestBody' | 'responseBody'> {
  request?: AttemptStep
  /** Runs after the `request` of every policy, over the final request: nothing changes after it. */
  sign?: AttemptStep
}

/** A failure ends the request; nothing is sent. */
export type AttemptStep = (outgoing: OutgoingRequest, rx: RequestContext) => Failure | void | Promise<Failure | void>

/** The facts about its backend that a policy may use. They come from the config, never from a client. */
export interface OutgoingTarget {
  /** False when clients choose the backend's address. */
  isFixed: boolean
  /** Name or address without port; null when the config has neither. */
  host: string | null
  /** The scope of signatures for its cloud, for kinds of backends that have one. */
  signing?: SigningScope
}
