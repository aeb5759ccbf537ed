import { trafficPolicies } from '../../policies/index.ts'
import { didYouMean } from '../../formats/suggest.ts'
import { checkUnique, protocolOf, type Report } from './report.ts'
import type { Spot } from './tree.ts'

/** Checks policies against the objects that they target. */
export function checkPolicies(root: Spot, report: Report, warn: Report): void {
  const policies = root.at('policies').items
  checkUnique(policies, (policy) => policy.at('name').text, 'policy', report)
  const listeners = root.at('binds').items.flatMap((bind) => bind.at('listeners').items)
  const objects = policies.length === 0 ? NO_OBJECTS : findObjects(root, listeners)
  const takenBy = new Map<string, string>()
  for (const policy of policies) {
    checkPhase(policy.at('traffic'), report)
    checkSections(policy, warn)
    for (const target of policy.at('targetRefs').items) checkTarget(target, policy, objects, report)
    for (const selector of policy.at('targetSelectors').items) checkSelector(selector, policy, objects, report, warn)
    checkTaken(policy, takenBy, warn)
  }
  for (const listener of listeners) checkPhase(listener.at('policies'), report)
}

interface NamedObject {
  name: string
  spot: Spot
}

interface Objects {
  listeners: NamedObject[]
  routes: (NamedObject & { isHttp: boolean })[]
  backends: NamedObject[]
}

const NO_OBJECTS: Objects = { listeners: [], routes: [], backends: [] }

function findObjects(root: Spot, listeners: readonly Spot[]): Objects {
  const nameOf = (spot: Spot, kind: string): string => spot.at('name').text ?? `${kind}${String(spot.path.at(-1))}`
  return {
    listeners: listeners.map((spot) => ({ name: nameOf(spot, 'listener'), spot })),
    routes: listeners.flatMap((listener) => {
      const isHttp = !['TLS', 'TCP', 'UDP'].includes(protocolOf(listener))
      return listener.at('routes').items.map((spot) => ({ name: nameOf(spot, 'route'), spot, isHttp }))
    }),
    backends: root.at('backends').items.map((spot) => ({ name: nameOf(spot, 'backend'), spot })),
  }
}

function checkTarget(target: Spot, policy: Spot, objects: Objects, report: Report): void {
  const kind = target.at('kind').text?.toLowerCase()
  const name = target.at('name').text
  if ((kind !== 'gateway' && kind !== 'route' && kind !== 'backend') || name === null) return
  checkAttachment(target, kind, policy, report)
  const section = target.at('sectionName')
  if (kind === 'gateway') {
    if (name !== 'default') reportUnknown(target.at('name'), 'gateway', ['default'], report)
    if (section.text !== null) expectKnown(section, 'listener', objects.listeners, report)
    return
  }
  const known = kind === 'route' ? objects.routes : objects.backends
  if (!expectKnown(target.at('name'), kind, known, report) || section.text === null) return
  const named = known.filter((object) => object.name === name)
  const rules = kind === 'route' ? rulesOf(named) : partsOf(named)
  if (!rules.includes(section.text))
    reportUnknown(section, kind === 'route' ? 'rule' : 'part of the backend', rules, report)
}

function checkSelector(selector: Spot, policy: Spot, objects: Objects, report: Report, warn: Report): void {
  const kind = selector.at('kind').text?.toLowerCase()
  if (kind !== 'route' && kind !== 'backend') return
  checkAttachment(selector, kind, policy, report)
  const wanted = selector.at('matchLabels')
  const found = (kind === 'route' ? objects.routes : objects.backends).filter(({ spot }) =>
    wanted.keys.every((label) => spot.in('labels', label).value === wanted.at(label).value),
  )
  if (found.length > 0) return
  warn('no_effect', selector, { found: `found no ${kind} with these labels`, expected: 'labels that some object has' })
}

function rulesOf(routes: readonly NamedObject[]): string[] {
  return routes.map(({ spot }) => spot.at('ruleName').text ?? '').filter((rule) => rule !== '')
}

function partsOf(backends: readonly NamedObject[]): string[] {
  return backends
    .flatMap(({ spot }) => [
      ...spot.in('ai', 'groups').items.flatMap((group) => group.at('providers').items),
      ...spot.in('ai', 'models').items,
      ...spot.in('mcp', 'targets').items,
    ])
    .map((part) => part.at('name').text ?? '')
}

/** Checks that a section is allowed for the kind of the target. */
function checkAttachment(target: Spot, kind: string, policy: Spot, report: Report): void {
  const hasSection = target.at('sectionName').exists
  const refuse = (section: string, expected: string): void =>
    report('conflict', policy.at(section), {
      found: `found \`${section}\` for a ${kind}${hasSection ? ' section' : ''}`,
      expected,
    })
  if (policy.at('frontend').exists && (kind !== 'gateway' || hasSection))
    refuse('frontend', 'the whole gateway as target')
  if (policy.at('traffic').exists && kind === 'backend')
    refuse('traffic', 'a gateway, listener, route or rule as target')
  if (kind === 'gateway') return
  const phase = policy.in('traffic', 'phase')
  if (phase.text?.toLowerCase() === 'prerouting') {
    const found = `found PreRouting for a ${kind}`
    report('conflict', phase, { found, expected: 'a gateway or listener as target, because no route is chosen yet' })
  }
}

/** Only some policies can run before the route is known. */
function checkPhase(traffic: Spot, report: Report): void {
  if (traffic.at('phase').text?.toLowerCase() !== 'prerouting') return
  const early = trafficPolicies.filter((policy) => (policy.phases ?? []).includes('PreRouting')).map(({ name }) => name)
  const shadow = traffic.at('shadow')
  const set = [...traffic.keys.map((name) => traffic.at(name)), ...shadow.keys.map((name) => shadow.at(name))]
  for (const policy of set) {
    const name = String(policy.path.at(-1))
    if (name === 'phase' || name === 'shadow' || early.some((each) => each === name)) continue
    const found = `found \`${name}\` in phase PreRouting`
    report('conflict', policy, {
      found,
      expected: `only ${early.map((each) => `\`${each}\``).join(', ')}`,
    })
  }
}

function checkSections(policy: Spot, warn: Report): void {
  if (['frontend', 'traffic', 'backend'].some((section) => policy.at(section).exists)) return
  warn('no_effect', policy, {
    found: 'found a policy that sets nothing',
    expected: '`frontend`, `traffic` or `backend`',
  })
}

/** Two policies for one object: what the later one sets again does not count. */
function checkTaken(policy: Spot, takenBy: Map<string, string>, warn: Report): void {
  const name = policy.at('name').text ?? ''
  for (const target of policy.at('targetRefs').items) {
    const place = ['kind', 'name', 'sectionName'].map((key) => target.at(key).text ?? '').join(' ')
    for (const section of ['frontend', 'traffic', 'backend']) {
      const phase = section === 'traffic' ? (policy.in('traffic', 'phase').text ?? '') : ''
      for (const field of policy.at(section).keys) {
        // Shadow policies never replace enforced policies, so they are skipped.
        if (field === 'phase' || field === 'shadow' || JOINED.has(field)) continue
        if (policy.in(section, field, 'mode').text?.toLowerCase() === 'shadow') continue
        // Rules of `mcp` are merged; its other fields are replaced.
        if (field === 'mcp' && !policy.in('backend', 'mcp', 'authentication').exists) continue
        const key = [place, section, phase, field].join(' ')
        const other = takenBy.get(key)
        if (other === undefined) takenBy.set(key, name)
        else if (other !== name) {
          const found = `found \`${field}\` for an object whose \`${field}\` policy \`${other}\` sets`
          warn('no_effect', policy.in(section, field), {
            found,
            expected: 'one policy for each; the first in the file counts',
          })
        }
      }
    }
  }
}

const JOINED = new Set<string>(trafficPolicies.filter((policy) => policy.merge === 'join').map(({ name }) => name))

function expectKnown(spot: Spot, kind: string, known: readonly NamedObject[], report: Report): boolean {
  const names = known.map(({ name }) => name)
  if (names.includes(spot.text ?? '')) return true
  reportUnknown(spot, kind, names, report)
  return false
}

function reportUnknown(spot: Spot, kind: string, names: readonly string[], report: Report): void {
  report('unknown_reference', spot, {
    found: `found no ${kind} named \`${spot.text}\``,
    expected: `the name of a ${kind}`,
    suggestion: didYouMean(spot.text ?? '', names),
  })
}
