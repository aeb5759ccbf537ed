import type { PolicyTarget } from '@portico/gateway/ir'
import type { BackendPolicies, TrafficPolicies } from '@portico/gateway/schema'
import type { TargetKind } from '../../resources/gw-policy.ts'
import type { Context } from '../context.ts'
import { listenersOf, type ResolvedListener } from '../listeners/listeners.ts'
import { closedForm, denyAll, isWrittenShadow } from './closed-forms.ts'

/** The fields that apply to connections without HTTP, by the kind of their route. */
const fieldsByKind: Partial<Record<TargetKind, { traffic: readonly string[]; backend: readonly string[] }>> = {
  TLSRoute: { traffic: ['authorization'], backend: ['tcp', 'tls', 'tunnel', 'health'] },
  TCPRoute: { traffic: ['authorization'], backend: ['tcp', 'tls', 'tunnel', 'health'] },
  UDPRoute: { traffic: ['authorization'], backend: ['health'] },
}

interface Sections {
  traffic: TrafficPolicies | null
  backend: BackendPolicies | null
}

/**
 * Keeps the fields that apply to all of these kinds, and names the others. A field that may deny requests cannot guard a
 * connection without HTTP, so all connections of the route are denied instead.
 */
export function fieldsForKinds(
  context: Context,
  kinds: readonly TargetKind[],
  { traffic, backend }: Sections,
): Sections & { problems: string[] } {
  const problems: string[] = []
  let isClosed = false
  const keep = <Section extends object>(section: 'traffic' | 'backend', written: Section | null): Section | null => {
    if (written === null) return null
    const kept = (Object.entries(written) as [string, unknown][]).filter(([name, config]) => {
      const kind = kinds.find((each) => fieldsByKind[each]?.[section].includes(name) === false)
      if (kind === undefined) return true
      problems.push(`spec.${section}.${name}: does not apply to a ${kind}, which has no HTTP requests`)
      isClosed ||= !isWrittenShadow(name, config) && Object.keys(closedForm(section, name, () => '')).length > 0
      return false
    })
    return Object.fromEntries(kept) as Section
  }
  const [kept, keptBackend] = [keep('traffic', traffic), keep('backend', backend)]
  if (kinds.some((kind) => kind in fieldsByKind)) problems.push(...requestRules(context, kept))
  if (!isClosed) return { traffic: kept, backend: keptBackend, problems }
  problems.push('all connections are denied, because they would pass without the policy')
  return { traffic: { ...kept, authorization: denyAll }, backend: keptBackend, problems }
}

/** Returns a problem for each rule that fails for connections without HTTP. */
function requestRules({ settings }: Context, traffic: TrafficPolicies | null): string[] {
  const { policy } = traffic?.authorization ?? {}
  return (policy?.matchExpressions ?? []).flatMap((expression, index) => {
    if (settings.checks.isConnectionRule(expression)) return []
    const path = `spec.traffic.authorization.policy.matchExpressions[${index}]`
    return [`${path}: fails for connections without HTTP, which have only \`source\`, \`proxy\` and \`env\``]
  })
}

/**
 * Returns what a policy does not do for the listeners of a Gateway whose connections have no HTTP: fields about requests do
 * not apply there, and rules about requests fail. Null when everything applies.
 */
export function unappliedHere(
  context: Context,
  gateway: string,
  traffic: TrafficPolicies | null,
  points: readonly PolicyTarget[],
): string | null {
  const isMeant = ({ key, parent }: ResolvedListener, point: PolicyTarget): boolean =>
    point.kind === 'gateway' ||
    (point.kind === 'listener' && point.key === key) ||
    (point.kind === 'listenerSet' && parent.kind !== 'Gateway' && point.key === `listenerSet/${parent.key}`)
  const names = context
    .read(listenersOf, gateway)
    .filter(
      ({ protocol, state }) => state !== 'absent' && (protocol === 'TCP' || protocol === 'TLS' || protocol === 'UDP'),
    )
    .filter((listener) => points.some((point) => isMeant(listener, point)))
    .map(({ name }) => name)
  if (names.length === 0) return null
  const fields = Object.keys(traffic ?? {}).filter((name) => name !== 'authorization')
  const unread = fields.map((name) => `spec.traffic.${name}`).join(', ')
  const notes = [...(fields.length === 0 ? [] : [`${unread} does not apply there`]), ...requestRules(context, traffic)]
  return notes.length === 0 ? null : `listener ${names.join(', ')} has connections without HTTP: ${notes.join('; ')}`
}
