import type { ChangedIr } from './change.ts'
import type { AttachedPolicy, PolicyTarget } from './resources.ts'
import { SharingMap } from '../collections/sharing-map.ts'

type Kind = PolicyTarget['kind']
const KINDS: readonly Kind[] = ['gateway', 'bind', 'listenerSet', 'listener', 'route', 'rule', 'backend']
const NONE: readonly AttachedPolicy[] = []

/**
 * Attachments by their target, each list in the order of the config. Lookups use the keys of resources directly,
 * because building combined keys costs more.
 */
export class PoliciesByTarget {
  readonly #byKind: ReadonlyMap<Kind, SharingMap<AttachedPolicy[]>>

  private constructor(byKind: ReadonlyMap<Kind, SharingMap<AttachedPolicy[]>>) {
    this.#byKind = byKind
  }

  static of(policies: readonly AttachedPolicy[]): PoliciesByTarget {
    const byKind = Map.groupBy(policies, ({ target }) => target.kind)
    const entries = KINDS.map((kind) => {
      const own = Map.groupBy(byKind.get(kind) ?? NONE, ({ target }) => keyOf(target))
      return [kind, SharingMap.of(own)] as const
    })
    return new PoliciesByTarget(new Map(entries))
  }

  at(kind: Kind, key: string): readonly AttachedPolicy[] {
    return this.#byKind.get(kind)?.get(key) ?? NONE
  }

  /** The index after a change. */
  after({ ir, came, gone }: ChangedIr): PoliciesByTarget {
    const touched = [...gone.policies, ...came.policies].map(({ target }) => target)
    if (touched.length === 0) return this
    const isGone = new Set(gone.policies)
    const changed = KINDS.map((kind) => {
      const keys = new Set(touched.filter((target) => target.kind === kind).map(keyOf))
      const isMeant = ({ target }: AttachedPolicy): boolean => target.kind === kind && keys.has(keyOf(target))
      const found = new Map<string, AttachedPolicy[]>()
      for (const key of keys)
        found.set(
          key,
          this.at(kind, key).filter((policy) => !isGone.has(policy)),
        )
      for (const policy of came.policies) if (isMeant(policy)) found.get(keyOf(policy.target))?.push(policy)
      // Only the config has the order of several policies with one target.
      if (found.values().some((list) => list.length > 1)) {
        for (const key of keys) found.set(key, [])
        for (const policy of ir.policies) if (isMeant(policy)) found.get(keyOf(policy.target))?.push(policy)
      }
      const entries = [...found].map(([key, list]) => [key, list.length === 0 ? undefined : list] as const)
      const before = this.#byKind.get(kind) ?? SharingMap.of<AttachedPolicy[]>([])
      return [kind, entries.length === 0 ? before : before.with(entries)] as const
    })
    return new PoliciesByTarget(new Map(changed))
  }
}

function keyOf(target: PolicyTarget): string {
  return target.kind === 'gateway' ? '' : target.key
}
