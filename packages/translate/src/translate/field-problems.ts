import { readBackendTlsPolicy } from '../resources/backend-tls-policy.ts'
import type { FieldProblem } from '../resources/fields.ts'
import { readGateway } from '../resources/gateway.ts'
import type { Kind } from '../resources/kinds.ts'
import { readListenerSet } from '../resources/listener-set.ts'
import type { Context, Query } from './context.ts'
import { findRoute, routePlan } from './route-plan.ts'

/** What is wrong with fields of a resource, by `Kind/namespace/name`, and which of them nobody reads. */
export const fieldProblems: Query<FieldProblem[]> = {
  name: 'fieldProblems',
  compute(context, id) {
    const slash = id.indexOf('/')
    return problemsOf(context, id.slice(0, slash) as Kind, id.slice(slash + 1))
  },
}

function problemsOf(context: Context, kind: Kind, key: string): FieldProblem[] {
  const resource = context.get(kind, key)
  if (resource === undefined) return []
  if (kind === 'Gateway') return readGateway(resource).problems
  if (kind === 'ListenerSet') return readListenerSet(resource).problems
  if (kind === 'BackendTLSPolicy') return readBackendTlsPolicy(resource).problems
  const id = `${kind}/${key}`
  const plan = findRoute(id) === null ? null : context.read(routePlan, id)
  return plan === null ? [] : [...plan.problems, ...plan.rules.flatMap((rule) => rule.problems)]
}
