import { bool, check } from '@portico/cel/check'
import { redactEvent } from '../../redaction/redact-event.ts'
import type { TraceSource } from '../../admin/trace.ts'
import { credentialNames } from '../../redaction/configured-names.ts'
import type { Ir } from '../../ir/resources.ts'
import { environmentFor } from '../../pipeline/expression/expression.ts'
import { configsByTraceKey } from '../../policies/trace-keys.ts'
import type { TraceEvent } from '../../telemetry/trace/trace-event.ts'
import { problemText } from './problem-text.ts'
import type { TraceHub } from '../../telemetry/trace/trace-hub.ts'

/** Traces as the admin server may show them: policies under the names that traces have, and no credentials. */
export function createTraceSource(hub: TraceHub, currentIr: () => Ir | null): TraceSource {
  return {
    get isFull() {
      return hub.isFull
    },
    check: problemWith,
    watch: (expression, client) =>
      hub.watch(expression, {
        ready: () => client.ready(),
        event: (event) => client.event(shown(event, credentialsOf(currentIr()))),
        end: () => client.end(),
      }),
  }
}

function problemWith(expression: string): string | null {
  const [problem] = check(expression, environmentFor('start'), { wants: bool }).problems
  return problem === undefined ? null : problemText(problem)
}

function shown(event: TraceEvent, credentials: ReadonlySet<string>): TraceEvent {
  try {
    return redactEvent(named(event), credentials)
  } catch (error) {
    // Claims can be nested deeper than a stack; the process must not end with them.
    return { ...event, message: { type: event.message.type, unsent: String(error) } }
  }
}

function named(event: TraceEvent): TraceEvent {
  const { message } = event
  if (message.type !== 'policySelection') return event
  const configs = message['effectivePolicy'] as Record<string, unknown>
  return { ...event, message: { ...message, effectivePolicy: configsByTraceKey(configs) } }
}

function credentialsOf(ir: Ir | null): ReadonlySet<string> {
  return ir === null ? new Set() : credentialNames(ir)
}
