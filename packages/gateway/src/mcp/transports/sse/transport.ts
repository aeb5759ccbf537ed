import type { CompiledBackend } from '../../../pipeline/compiled.ts'
import type { Hub } from '../../hub/hub.ts'
import type { TargetTransport } from '../transport.ts'
import { SseLink } from './link.ts'
import { SessionStreams } from './streams.ts'

export interface SseServices {
  connection: CompiledBackend
  /** Path and query of the stream. */
  path: string
  /** Host as the target knows itself. */
  authority: string
  bug: (error: unknown) => void
  /** Of one message. */
  maxMessageBytes: number
  hub: Hub
  /** Of the target, with what it is made of: streams of another one must not be taken for its own. */
  key: string
  /** How long a stream stays open that nobody uses. */
  idleTimeoutMs: number
  /** Until the target has named the place for messages. */
  openTimeoutMs: number
}

/**
 * A target of the revision 2024-11-05: it says everything on one stream of events, which names the place that messages
 * are sent to. The stream is in one worker; others reach it by mail, and send their messages themselves.
 */
export function sseTransport(services: SseServices): TargetTransport {
  const streams = new SessionStreams(services)
  return {
    kind: 'SSE',
    isPortable: false,
    link: ({ key }) => new SseLink(key, streams, services),
  }
}
