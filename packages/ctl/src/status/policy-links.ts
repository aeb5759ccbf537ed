import { CONTROLLER_NAME } from '@portico/controller/selector'
import { Fields, isFine, keyOf, type Kind, kindOf, type Resource } from '@portico/translate'
import { conditionsLink, type Link, ok, readConditions, statusFields } from './link.ts'
import type { ResourceView } from './resource-view.ts'

const policyKinds = ['GwPolicy', 'BackendTLSPolicy', 'XBackendTrafficPolicy', 'XTelemetryPolicy'] as const
type PolicyKind = (typeof policyKinds)[number]

/** Policies of the namespace that target this object, GwPolicies first, each kind sorted by name. */
export function policiesFor(world: ResourceView, target: Resource): Resource[] {
  const { namespace } = target.metadata
  const policies = policyKinds.flatMap((kind) => world.list(kind, namespace))
  return policies.filter((policy) => isFor(policy, target))
}

function isFor({ spec: input }: Resource, target: Resource): boolean {
  const spec = new Fields(input, ['spec'], [])
  const kind: Kind | null = kindOf(target)
  const named = spec
    .objects('targetRefs')
    .some((ref) => ref.text('kind') === kind && ref.text('name') === target.metadata.name)
  const { labels = {} } = target.metadata
  const selected = spec.objects('targetSelectors').some((selector) => {
    const wanted = Object.entries(selector.textsByKey('matchLabels'))
    return selector.text('kind') === kind && wanted.every(([label, value]) => labels[label] === value)
  })
  return named || selected
}

/** The problem of the first ancestor that has one, or success. */
export function policyLink(world: ResourceView, policy: Resource): Link {
  const kind = kindOf(policy) as PolicyKind | 'GwFilter'
  const what = `${kind} ${keyOf(policy)}`
  const status = statusFields(world.statusOf(kind, policy))
  // `Verified` of a GwPolicy is about the policy as a whole.
  const own = readConditions(status)
  if (own.some((each) => !isFine(each))) return conditionsLink(what, policy, own)
  const ancestors = status
    .objects('ancestors')
    .filter((each) => each.text('controllerName') === CONTROLLER_NAME)
    .map((each) => ({ name: printAncestor(each.object('ancestorRef')), conditions: readConditions(each) }))
  // A policy without a Gateway of ours has no ancestors.
  if (ancestors.length === 0 && kind !== 'GwPolicy' && kind !== 'GwFilter')
    return { what, state: 'note', says: 'no Gateway of ours uses its targets' }
  const bad = ancestors.find(({ conditions }) => conditions.some((each) => !isFine(each)))
  if (bad !== undefined) return conditionsLink(`${what} at ${bad.name}`, policy, bad.conditions)
  const link = conditionsLink(
    what,
    policy,
    ancestors.flatMap(({ conditions }) => conditions),
  )
  return link.state === 'ok' ? ok(what, `Accepted at ${ancestors.map(({ name }) => name).join(', ')}`) : link
}

function printAncestor(ref: Fields): string {
  const namespace = ref.text('namespace')
  return `${ref.text('kind') ?? ''} ${namespace === undefined ? '' : `${namespace}/`}${ref.text('name') ?? ''}`
}
