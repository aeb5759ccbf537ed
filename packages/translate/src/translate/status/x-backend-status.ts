import { GATEWAY_GROUP } from '../../resources/kinds.ts'
import type { Reason } from '../../resources/reasons.ts'
import { type Condition, condition, type PolicyStatus } from '../../resources/status.ts'
import { routeKindsOfXBackends } from '../backends/backend-refs.ts'
import { xBackend } from '../backends/x-backend.ts'
import type { Context, Query } from '../context.ts'
import type { Unusable } from '../materials.ts'
import { attachmentsOf } from '../attachment/attachment.ts'

/** The limit of entries that the status writer keeps; the Gateway API allows 32. */
const MOST_ANCESTORS = 16

/** The status of an XBackend: one entry for each of our Gateways with a route to it; null when there is none. */
export const xBackendStatus: Query<PolicyStatus | null> = {
  name: 'xBackendStatus',
  compute(context, place) {
    const resource = context.get('XBackend', place)
    const gateways = gatewaysOf(context, place)
    if (resource === undefined || gateways.length === 0) return null
    const conditions = conditionsOf(context, place, resource.metadata.generation ?? 0)
    const { controllerName } = context.settings
    return {
      ancestors: gateways.slice(0, MOST_ANCESTORS).map((gateway) => {
        const [namespace = '', name = ''] = gateway.split('/')
        return { ancestorRef: { group: GATEWAY_GROUP, kind: 'Gateway', namespace, name }, controllerName, conditions }
      }),
    }
  },
}

/** Only routes of its own namespace may refer to an XBackend. */
function gatewaysOf(context: Context, place: string): string[] {
  const namespace = place.slice(0, place.indexOf('/') + 1)
  const gateways = routeKindsOfXBackends.flatMap((kind) =>
    context
      .keys(kind, { by: 'backend', value: `XBackend/${place}` })
      .filter((route) => route.startsWith(namespace))
      .flatMap((route) => context.read(attachmentsOf, `${kind}/${route}`))
      .flatMap(({ gateway, listeners }) => (listeners.length === 0 ? [] : gateway)),
  )
  return [...new Set(gateways)].toSorted()
}

const reasonsOfReferences: ReadonlySet<Reason> = new Set<Reason>([
  'InvalidCACertificateRef',
  'InvalidClientCertificateRef',
  'InvalidKind',
  'RefNotPermitted',
])

function conditionsOf(context: Context, place: string, generation: number): Condition[] {
  const made = context.read(xBackend, place)
  const refusal: Unusable | null = 'reason' in made ? made : null
  const unresolved = 'reason' in made ? (reasonsOfReferences.has(made.reason) ? made : null) : made.unresolved
  const message = ['XBackend accepted', ...('reason' in made ? [] : made.notes)].join('; ')
  return [
    refusal === null
      ? condition('Accepted', true, { reason: 'Accepted', message, generation })
      : condition('Accepted', false, { ...refusal, generation }),
    unresolved === null
      ? condition('ResolvedRefs', true, { reason: 'ResolvedRefs', message: 'All references resolved', generation })
      : condition('ResolvedRefs', false, { ...unresolved, generation }),
  ]
}
