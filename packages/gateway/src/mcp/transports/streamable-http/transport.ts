import type { CompiledBackend } from '../../../pipeline/compiled.ts'
import type { TargetTransport } from '../transport.ts'
import { StreamableLink } from './link.ts'

export interface StreamableServices {
  connection: CompiledBackend
  /** Path and query of the endpoint. */
  path: string
  /** Host as the target knows itself. */
  authority: string
  bug: (error: unknown) => void
  /** Of one message that is looked into. */
  maxMessageBytes: number
}

/** A target that is spoken to by POST, and answers in JSON or in events. All that a session is stands in its id. */
export function streamableTransport(services: StreamableServices): TargetTransport {
  return {
    kind: 'StreamableHTTP',
    isPortable: true,
    link: (session) => new StreamableLink(session.target, services),
  }
}
