import { CONTROLLER_NAME } from '@portico/controller/selector'
import { Fields, isFine, keyOf, type Kind, kindOf, type Resource } from '@portico/translate'
import { conditionsLink, type Link, ok, readConditions, statusFields } from './link.ts'
import type { World } from './world.ts'

type PolicyKind = 'GwPolicy' | 'BackendTLSPolicy'

/** Policies that say of themselves to be for this object, in the order of their names. */
export function policiesFor(world: World, target: Resource): Resource[] {
  const { namespace } = target.metadata
  const policies = [...world.list('GwPolicy', namespace), ...world.list('BackendTLSPolicy', namespace)]
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

/** What the first ancestor with a problem says, or that all are fine. */
export function policyLink(world: World, policy: Resource): Link {
  const kind = kindOf(policy) as PolicyKind
  const what = `${kind} ${keyOf(policy)}`
  const ancestors = statusFields(world.statusOf(kind, policy))
    .objects('ancestors')
    .filter((each) => each.text('controllerName') === CONTROLLER_NAME)
    .map((each) => ({ name: printAncestor(each.object('ancestorRef')), conditions: readConditions(each) }))
  // One that no Gateway of ours leads to has nothing to say.
  if (ancestors.length === 0 && kind === 'BackendTLSPolicy')
    return { what, state: 'note', says: 'no route of a Gateway leads to its targets' }
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
