import type { ControllerMessage } from '@portico/gateway/stream'

/** Reasons for rejecting a connection or a stream, with their messages. */
export const REFUSALS = {
  /** The client spoke no TLS or no HTTP/2. */
  handshake: 'HTTP/2 over TLS is required',
  unknown_path: 'unknown path',
  no_token: 'bearer token missing',
  token: 'token rejected',
  review_failed: 'token review failed',
  busy: 'too many tokens under review',
  too_many_streams: 'too many streams',
  no_hello: 'no hello in time',
  malformed: 'malformed line',
  foreign_gateway: 'token belongs to another Gateway',
  no_controller: 'controller certificate missing',
  silent: 'data plane silent for too long',
  closing: 'controller is shutting down',
} as const satisfies Record<string, string>

export type Refusal = keyof typeof REFUSALS

/** Counts of messages to and from data planes since the start. */
export class PublishCounts {
  readonly messages: Record<ControllerMessage['type'], number> = { config: 0, endpoints: 0, ping: 0, goodbye: 0 }
  readonly refused = Object.fromEntries(Object.keys(REFUSALS).map((reason) => [reason, 0])) as Record<Refusal, number>
  bytes = 0
  acks = 0
  nacks = 0
  /** How often a change was serialized; data planes with the same base share the result. */
  lines = 0
}
