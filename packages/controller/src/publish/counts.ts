import type { ControllerMessage } from '@portico/gateway/stream'

/** Reasons for rejecting a connection or a stream, with their messages. */
export const REFUSALS = {
  /** The client spoke no TLS or no HTTP/2. */
  handshake: 'no HTTP/2 over TLS was spoken',
  unknown_path: 'there is no such path',
  no_token: 'no bearer token was sent',
  token: 'the token was refused',
  review_failed: 'nobody could say whose token it is',
  busy: 'too many tokens are being looked at',
  too_many_streams: 'the client has too many streams',
  no_hello: 'the client said nothing in time',
  malformed: 'a line was against the rules',
  foreign_gateway: 'the token is of another Gateway',
  no_controller: 'the client has no certificate of a controller',
  silent: 'nothing was heard of the data plane for too long',
  closing: 'the controller was going away',
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
