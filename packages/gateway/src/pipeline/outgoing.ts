import type { UpstreamRequest } from '../upstream/contract.ts'
import type { Failure } from './failure.ts'
import type { Rx } from './request.ts'
import type { Step } from './step.ts'

/** One attempt as it leaves for the backend, with headers of its own: a retry starts again from the request. */
export type OutgoingRequest = UpstreamRequest

/** What a backend policy does to each attempt, and to the response that the client gets. */
export interface BackendStep extends Pick<Step, 'response' | 'requestBody' | 'responseBody'> {
  /** A failure ends the request; nothing is sent. */
  request?: (outgoing: OutgoingRequest, rx: Rx) => Failure | void
}
