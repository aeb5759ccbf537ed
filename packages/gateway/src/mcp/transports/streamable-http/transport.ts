import type { TargetTransport } from '../transport.ts'
import type { StreamableServices } from './call.ts'
import { StreamableLink } from './link.ts'

/** A target that is spoken to by POST, and answers in JSON or in events. All that a session is stands in its id. */
export function streamableTransport(services: StreamableServices): TargetTransport {
  return {
    kind: 'StreamableHTTP',
    isPortable: true,
    link: (session) => new StreamableLink(session.target, services),
  }
}
