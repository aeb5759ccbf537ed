import { readBackendTlsPolicy } from '../resources/backend-tls-policy.ts'
import { type FieldProblem, Fields } from '../resources/fields.ts'
import { readGateway } from '../resources/gateway.ts'
import { readInferencePool } from '../resources/inference-pool.ts'
import type { Kind } from '../resources/kinds.ts'
import { readListenerSet } from '../resources/listener-set.ts'
import type { Resource } from '../resources/resource.ts'
import { readService } from '../resources/service.ts'
import type { Context, Query } from './context.ts'
import { readXBackend } from './backends/x-backend-spec.ts'
import { readBackendTrafficPolicy } from './policies/backend-traffic-policy.ts'
import { readTelemetryPolicy } from './policies/telemetry-policy-spec.ts'
import { findRoute } from './attachment/parent-refs.ts'
import { routePlan } from './routes/route-plan.ts'

/** Problems with the fields of a resource, by `Kind/namespace/name`, including ignored fields. */
export const fieldProblems: Query<FieldProblem[]> = {
  name: 'fieldProblems',
  compute(context, id) {
    const slash = id.indexOf('/')
    return problemsOf(context, id.slice(0, slash) as Kind, id.slice(slash + 1))
  },
}

function problemsOf(context: Context, kind: Kind, key: string): FieldProblem[] {
  const resource = context.get(kind, key)
  return resource === undefined ? [] : [...metadataProblems(resource), ...specProblems(context, kind, key, resource)]
}

/** Checks metadata, because files are not validated by an API server. */
function metadataProblems(resource: Resource): FieldProblem[] {
  const problems: FieldProblem[] = []
  const metadata = new Fields(resource.metadata, ['metadata'], problems)
  metadata.textsByKey('labels')
  metadata.textsByKey('annotations')
  metadata.text('creationTimestamp')
  metadata.integer('generation')
  return problems
}

function specProblems(context: Context, kind: Kind, key: string, resource: Resource): FieldProblem[] {
  if (kind === 'Gateway') return readGateway(resource).problems
  if (kind === 'ListenerSet' || kind === 'XListenerSet') return readListenerSet(resource).problems
  if (kind === 'Service' || kind === 'ServiceImport') return readService(resource).problems
  if (kind === 'BackendTLSPolicy') return readBackendTlsPolicy(resource).problems
  if (kind === 'InferencePool') return readInferencePool(resource).problems
  if (kind === 'XBackend') return readXBackend(resource).problems
  if (kind === 'XTelemetryPolicy') return readTelemetryPolicy(resource).problems
  if (kind === 'XBackendTrafficPolicy') return readBackendTrafficPolicy(resource).problems
  const id = `${kind}/${key}`
  const plan = findRoute(id) === null ? null : context.read(routePlan, id)
  return plan === null ? [] : [...plan.problems, ...plan.rules.flatMap((rule) => rule.problems)]
}
