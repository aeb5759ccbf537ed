import type { TargetTransport } from '../transport.ts'
import { SseLink } from './link.ts'
import type { SseServices } from './post.ts'
import { SessionStreams } from './streams.ts'

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
