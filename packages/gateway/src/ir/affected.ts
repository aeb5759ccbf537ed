import type { ChangedIr } from './change.ts'
import { setsOfListeners, targetKey } from './merge.ts'
import { backendsNamedIn, isBackendName } from './named-backends.ts'
import type { PoliciesByTarget } from './policies-by-target.ts'
import type { AttachedPolicy, Backend, Ir, Route } from './resources.ts'
import type { SharingMap } from '../collections/sharing-map.ts'

/** The resources that a change affects: the changed ones, and all that depend on them. */
interface AffectedResources {
  route(route: Route): boolean
  /** The affected routes among `routes`. */
  routesIn(routes: readonly Route[]): Route[]
  backend(backend: Backend): boolean
}

const EVERYTHING: AffectedResources = { route: () => true, routesIn: (routes) => [...routes], backend: () => true }

/** The index of the new config. */
export interface IrIndex {
  byTarget: PoliciesByTarget
  backendsByKey: SharingMap<Backend>
}

export function affectedBy(changed: ChangedIr, { byTarget, backendsByKey }: IrIndex): AffectedResources {
  const touched = touchedTargets(changed)
  // Policies of the whole gateway are part of every route.
  if (touched.has(targetKey({ kind: 'gateway' }))) return EVERYTHING
  const named = touchedNames(touched, changed.ir)
  const isNaming = (resource: AttachedPolicy | Backend): boolean =>
    backendsNamedIn(resource).some((key) => named.has(key))
  if (named.size > 0 && byTarget.at('gateway', '').some(isNaming)) return EVERYTHING
  const touchedOf = (kind: 'listenerSet' | 'listener' | 'route' | 'rule' | 'backend') => {
    const keys = keysOf(touched, kind)
    if (named.size === 0) return keys.size === 0 ? never : (key: string) => keys.has(key)
    return (key: string) => keys.has(key) || byTarget.at(kind, key).some(isNaming)
  }
  const sets = setsOfListeners(changed.ir.listeners)
  const [set, itself, parent, rule, own] = [
    touchedOf('listenerSet'),
    touchedOf('listener'),
    touchedOf('route'),
    touchedOf('rule'),
    touchedOf('backend'),
  ]
  const listener = (key: string): boolean => itself(key) || (sets.size > 0 && set(sets.get(key) ?? ''))
  const isBackendTouched = (key: string): boolean => {
    if (own === never) return false
    const backend = backendsByKey.get(key)
    return own(key) || sectionsOf(backend).some(own) || (backend !== undefined && named.size > 0 && isNaming(backend))
  }
  const isTouched = (route: Route): boolean =>
    rule(route.key) ||
    listener(route.listener) ||
    (parent !== never && parent(`${route.listener}/${route.name}`)) ||
    route.backends.some((entry) => isBackendTouched(entry.backend) || own(entry.key))
  // Usually only some routes have changed, so the check of thousands of routes is kept cheap.
  const isByRule = [set, itself, parent, own].every((each) => each === never)
  return {
    route: isTouched,
    routesIn: (routes) => routes.filter(isByRule ? ({ key }) => rule(key) : isTouched),
    backend: ({ key }) => isBackendTouched(key),
  }
}

const never = (): boolean => false

/** The keys of the targets of one kind. */
function keysOf(
  targets: ReadonlySet<string>,
  kind: 'listenerSet' | 'listener' | 'route' | 'rule' | 'backend',
): Set<string> {
  const prefix = targetKey({ kind, key: '' })
  return new Set(
    [...targets].filter((target) => target.startsWith(prefix)).map((target) => target.slice(prefix.length)),
  )
}

/** The targets of added and removed policies, and the added and removed resources themselves. */
export function touchedTargets({ came, gone }: Pick<ChangedIr, 'came' | 'gone'>): Set<string> {
  const touched = new Set<string>()
  for (const part of [came, gone]) {
    for (const { target } of part.policies) touched.add(targetKey(target))
    for (const { key } of part.listeners) touched.add(targetKey({ kind: 'listener', key }))
    for (const { key } of part.routes) touched.add(targetKey({ kind: 'rule', key }))
    for (const { key } of part.backends) touched.add(targetKey({ kind: 'backend', key }))
  }
  return touched
}

/** The changed backends that policies may name, including backends that name a changed backend. */
function touchedNames(touched: ReadonlySet<string>, ir: Ir): Set<string> {
  const named = new Set([...keysOf(touched, 'backend')].map(ownerOf).filter(isBackendName))
  for (let size = -1; size < named.size && named.size > 0;) {
    size = named.size
    const isNaming = (resource: object): boolean => backendsNamedIn(resource).some((key) => named.has(key))
    for (const backend of ir.backends) if (isBackendName(backend.key) && isNaming(backend)) named.add(backend.key)
    for (const policy of ir.policies) {
      const owner = policy.target.kind === 'backend' ? ownerOf(policy.target.key) : ''
      if (isBackendName(owner) && isNaming(policy)) named.add(owner)
    }
  }
  return named
}

/** The backend that a part, such as a provider, belongs to. */
function ownerOf(key: string): string {
  const section = key.indexOf('/section/')
  return section < 0 ? key : key.slice(0, section)
}

/** The keys of the parts of a backend that may have their own policies. */
function sectionsOf(backend: Backend | undefined): readonly string[] {
  const target = backend?.target
  if (target?.kind === 'ai') return target.groups.flat().map(({ key }) => key)
  return target?.kind === 'mcp' ? target.targets.map(({ key }) => key) : NO_SECTIONS
}

const NO_SECTIONS: readonly string[] = []
