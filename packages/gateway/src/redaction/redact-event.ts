import { isSecretHeader } from './secret-names.ts'
import { redact } from './redact.ts'

/**
 * `redactEvent` returns a trace event that may leave the process. `credentials` has the headers and parameters, in lower
 * case, that the config names as carriers of credentials.
 */
export function redactEvent<TraceEvent>(event: TraceEvent, credentials: ReadonlySet<string>): TraceEvent {
  return redact(event, [], (name) => isSecretHeader(name) || credentials.has(name.toLowerCase())) as TraceEvent
}
