import type { JsonObject } from '../../wire/json.ts'
import type { Endpoint } from '../engine/endpoint.ts'
import { Exchange } from '../engine/exchange.ts'
import type { LiveSession } from '../session/live-session.ts'
import type { AnswerPort } from './answer-port.ts'
import type { EndpointCallParts } from './mcp-call.ts'

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
