import type { PolicyTarget } from '@portico/gateway/ir'
import type { Context, Query } from '../context.ts'
import { REPORTING_FIELDS, WHOLE_PLANE_FIELDS } from '../listeners/frontend-claims.ts'
import { bindKey, listenersOf } from '../listeners/listeners.ts'
import { membersOf, parametersOfPlane, sharedPlaneOf } from '../listeners/shared-data-plane.ts'
import type { PolicyPlan } from './policy-plan.ts'

/**
 * Returns what a policy for a whole Gateway does not do, because the Gateway shares its data plane with others; empty
 * when everything applies.
 */
export function unheldAtSharedPlane(
  context: Context,
  gateway: string,
  { frontend, backend }: Pick<PolicyPlan, 'frontend' | 'backend'>,
  points: readonly PolicyTarget[],
): string[] {
  const plane = context.read(sharedPlaneOf, gateway)
  if (plane === null || !points.some(({ kind }) => kind === 'gateway')) return []
  const names = Object.keys(frontend ?? {})
  const buffer = frontend?.http?.maxBufferSize === undefined ? [] : ['http.maxBufferSize']
  const wide = [...names.filter((name) => WHOLE_PLANE_FIELDS.includes(name)), ...buffer]
  const reporting = names.filter((name) => REPORTING_FIELDS.includes(name) && !WHOLE_PLANE_FIELDS.includes(name))
  const ports = context.read(portsWithOthers, gateway)
  const instead = `set it in rawConfig.frontend of GwParameters ${parametersOfPlane(plane)}`
  return [
    ...wide.map(
      (name) => `spec.frontend.${name}: has no effect, because it holds for the whole shared data plane; ${instead}`,
    ),
    ...(ports.length === 0 ? [] : reporting).map(
      (name) =>
        `spec.frontend.${name}: has no effect on port ${ports.join(', ')}, which other Gateways use too; ${instead}`,
    ),
    ...(backend === null || Object.keys(backend).length === 0
      ? []
      : ['spec.backend: does not hold for services that policies call, which the Gateways of the data plane share']),
  ]
}

/**
 * Returns on which ports tracing of a Gateway has no effect, because other Gateways of the shared data plane use them too;
 * null when tracing applies to all ports.
 */
export function untracedPorts(context: Context, gateway: string): string | null {
  const plane = context.read(sharedPlaneOf, gateway)
  const ports = context.read(portsWithOthers, gateway)
  if (plane === null || ports.length === 0) return null
  return `spec.tracing: has no effect on port ${ports.join(', ')}, which other Gateways use too; set tracing in rawConfig.frontend of GwParameters ${parametersOfPlane(plane)}`
}

/** The ports of a Gateway on which another Gateway of the shared data plane has a listener. */
const portsWithOthers: Query<number[]> = {
  name: 'portsWithOthers',
  compute(context, gateway) {
    const plane = context.read(sharedPlaneOf, gateway)
    if (plane === null) return []
    const bindsOf = (key: string): Map<string, number> =>
      new Map(
        context
          .read(listenersOf, key)
          .filter(({ state }) => state !== 'absent')
          .map(({ protocol, port }) => [bindKey(protocol, port), port]),
      )
    const others = context.read(membersOf, plane).filter((member) => member !== gateway)
    const taken = new Set(others.flatMap((member) => [...bindsOf(member).keys()]))
    return [...bindsOf(gateway)].flatMap(([bind, port]) => (taken.has(bind) ? [port] : []))
  },
}
