import type { Backend } from '@portico/gateway/ir'
import type { TrafficPolicies } from '@portico/gateway/schema'
import { type FieldProblem, Fields, printFieldPath, printFieldProblem } from '../../resources/fields.ts'
import { readExternalAuth, resolveAuthorizer } from '../backends/external-auth.ts'
import type { Context } from '../context.ts'
import type { Unusable } from '../materials.ts'
import { validateTraffic } from '../validate-config.ts'

/** The filters of a listener, which run before a route is chosen. */
export interface ListenerFilters {
  /** Null when the listener has no filters. */
  traffic: TrafficPolicies | null
  /** The authorizer, or an invalid backend in its place, which denies every request. */
  called: Backend[]
  /** The problem with a reference. */
  unresolved: Unusable | null
  /** The reason why the listener is not accepted. */
  refusal: Unusable | null
}

const NO_FILTERS: ListenerFilters = { traffic: null, called: [], unresolved: null, refusal: null }

/** Translates `filters` of a listener. `key` is the key of the listener in the IR. */
export function listenerFilters(
  context: Context,
  owner: { kind: string; namespace: string },
  { filters, key }: { filters: unknown; key: string },
): ListenerFilters {
  const problems: FieldProblem[] = []
  const fields = new Fields(filters, ['filters'], problems)
  const requests = fields.objects('requests')
  fields.done()
  const [first, second] = requests
  if (second !== undefined) {
    return refuse('UnsupportedValue', 'filters.requests[1]: a listener can have one filter')
  }
  if (first === undefined) return problems.length === 0 ? NO_FILTERS : refuseProblems(problems)
  const type = first.text('type') ?? ''
  if (type !== 'ExternalAuth') return refuse('UnsupportedValue', `filters.requests[0]: ${type} is not supported`)
  const plan = readExternalAuth(first.object('externalAuth'), owner.namespace)
  first.done()
  if (problems.length > 0) return refuseProblems(problems)
  if ('reason' in plan) return refuse('InvalidListenerFilter', `filters.requests[0]: ${plan.message}`)
  const config = { extAuth: { ...plan.config, backendRef: { name: 'authorizer' } } }
  const found = validateTraffic(config)
  if ('reason' in found) return refuse('InvalidListenerFilter', `filters.requests[0]: ${found.message}`)
  const asked = resolveAuthorizer(context, owner, plan.to)
  const backend =
    'reason' in asked
      ? { key: `${key}/authorizer`, name: 'invalid', target: { kind: 'invalid' as const, reason: asked.message } }
      : asked.backend
  return {
    traffic: { extAuth: { ...found.traffic.extAuth, backendRef: { name: backend.key } } },
    called: [backend],
    unresolved: 'reason' in asked ? toUnresolved(asked) : null,
    refusal: null,
  }
}

function toUnresolved({ reason, message }: Unusable): Unusable {
  return {
    reason: reason === 'RefNotPermitted' ? reason : 'InvalidListenerFilterRef',
    message: `filters.requests[0]: ${message}`,
  }
}

/** A filter that is not understood completely must not admit requests. */
function refuseProblems(problems: readonly FieldProblem[]): ListenerFilters {
  const messages = problems.map((problem) =>
    problem.code === 'unknown' ? `${printFieldPath(problem.path)} is not supported` : printFieldProblem(problem),
  )
  return refuse('InvalidListenerFilter', messages.join('; '))
}

function refuse(reason: Unusable['reason'], message: string): ListenerFilters {
  return { ...NO_FILTERS, refusal: { reason, message } }
}
