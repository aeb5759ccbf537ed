import { backendPolicies, frontendPolicies, trafficPolicies } from '../../policies/index.ts'
import type { AttachmentPoint, PoliciesOf, Policy } from '../../schema/define-policy.ts'
import { fileOnly, object } from '../../schema/kit.ts'
import type { Schema } from '../../schema/kit.ts'

type Attached<All extends readonly Policy[]> = Schema<PoliciesOf<All>>

export function frontendBlock(): Attached<typeof frontendPolicies> {
  return block(frontendPolicies, 'gateway')
}

/** A listener takes every traffic policy except the filters that only routes have. */
export function listenerBlock(): Attached<typeof trafficPolicies> {
  return block(trafficPolicies, 'listener')
}

export function backendBlock(): Attached<typeof backendPolicies> {
  return block(backendPolicies, 'backend')
}

/** Traffic policies, and the backend policies for all backends of the route. */
export function routeBlock(): Schema<
  PoliciesOf<typeof trafficPolicies> & { backend?: PoliciesOf<typeof backendPolicies> }
> {
  return block(trafficPolicies, 'route', {
    backend: backendBlock().optional().describe('Policies for all backends of this route.'),
  })
}

function block<All extends readonly Policy[]>(
  policies: All,
  place: AttachmentPoint,
  more: Record<string, Schema> = {},
): Attached<All> {
  const shape: Record<string, Schema> = {}
  for (const policy of policies) {
    if (!policy.attach.includes(place)) continue
    const presence = policy.always ? policy.schema.prefault({}) : policy.schema.optional()
    const field = presence.describe(policy.schema.description ?? '')
    shape[policy.name] = policy.fileOnly ? fileOnly(field) : field
  }
  return object({ ...shape, ...more }) as unknown as Attached<All>
}
