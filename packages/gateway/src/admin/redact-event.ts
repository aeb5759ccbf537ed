import { isSecretHeader } from '../formats/secret-names.ts'
import type { TraceEvent } from '../telemetry/trace/trace-event.ts'
import { redact } from './redact.ts'

/** An event as it may leave the process; `credentials` has more headers and parameters, in lower case, that carry some. */
export function redactEvent(event: TraceEvent, credentials: ReadonlySet<string>): TraceEvent {
  return redact(event, [], (name) => isSecretHeader(name) || credentials.has(name.toLowerCase())) as TraceEvent
}
