import type { JsonObject } from '../../wire/json.ts'
import type { RequestContext } from '../../pipeline/request-context.ts'
import type { CallContext } from '../../pipeline/step.ts'
import type { UpstreamHandler, UpstreamRequest } from '../../upstream/upstream-types.ts'
import type { Endpoint } from '../engine/endpoint.ts'
import { Exchange } from '../engine/exchange.ts'
import type { LiveSession } from '../session/live-session.ts'
import type { AnswerPort } from './answer-port.ts'

/** What a request of a client comes with. */
export interface EndpointCallParts {
  rx: RequestContext
  request: UpstreamRequest
  context: CallContext
  handler: UpstreamHandler
}

/** Everything that it takes to serve a request of a client in this session. */
export function exchangeFor(
  endpoint: Endpoint,
  { rx, request, context }: EndpointCallParts,
  session: LiveSession,
  answer: AnswerPort,
  requestMeta: JsonObject | null = null,
): Exchange {
  const facts = rx.mcp!
  facts.session = session.isPassing ? '' : session.state.key
  return new Exchange({ endpoint, rx, facts, context, headers: request.headers, session, answer, requestMeta })
}
