import { bool, check } from '@portico/cel/check'
import { redactEvent } from '../admin/redact-event.ts'
import type { TraceSource } from '../admin/trace.ts'
import type { Ir } from '../ir/resources.ts'
import { environmentFor } from '../pipeline/expression.ts'
import { configsByTraceKey } from '../policies/trace-keys.ts'
import type { TraceEvent } from '../telemetry/trace/trace-event.ts'
import type { TraceHub } from '../telemetry/trace/trace-hub.ts'

/** Traces as the admin server may show them: policies under the names that traces have, and no credentials. */
export function createTraceSource(hub: TraceHub, currentIr: () => Ir | null): TraceSource {
  const credentials = rememberByIr(credentialNames)
  return {
    get isFull() {
      return hub.isFull
    },
    check: problemWith,
    watch: (expression, client) =>
      hub.watch(expression, {
        ready: () => client.ready(),
        event: (event) => client.event(shown(event, credentials(currentIr()))),
        end: () => client.end(),
      }),
  }
}

function problemWith(expression: string): string | null {
  const [problem] = check(expression, environmentFor('start'), { wants: bool }).problems
  if (problem === undefined) return null
  const { line, column } = problem.position
  const place = line === 1 ? `column ${column}` : `line ${line}, column ${column}`
  const hint = problem.suggestion === undefined ? '' : `, did you mean \`${problem.suggestion}\`?`
  return `${place}: ${problem.message}${hint}`
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

/** Headers and parameters that the config says credentials stand in: `location: { header: { name: x-team-pass } }`. */
function credentialNames(ir: Ir): Set<string> {
  const names = new Set<string>()
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    for (const [field, child] of Object.entries(node)) {
      if (field === 'location') for (const name of namesIn(child)) names.add(name.toLowerCase())
      visit(child)
    }
  }
  visit(ir.policies)
  return names
}

function namesIn(location: unknown): string[] {
  if (typeof location !== 'object' || location === null) return []
  return Object.values(location).flatMap((place: unknown) =>
    typeof place === 'object' && place !== null && 'name' in place && typeof place.name === 'string' ? place.name : [],
  )
}

function rememberByIr<T>(compute: (ir: Ir) => Set<T>): (ir: Ir | null) => ReadonlySet<T> {
  const known = new WeakMap<Ir, Set<T>>()
  return (ir) => {
    if (ir === null) return new Set()
    const found = known.get(ir) ?? compute(ir)
    known.set(ir, found)
    return found
  }
}
