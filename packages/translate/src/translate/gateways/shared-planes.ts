import type { Ir } from '@portico/gateway/ir'
import { compare } from '../precedence.ts'
import { mergeConfigs, mergeEndpoints } from './shared-config.ts'

type Endpoints = Readonly<Record<string, readonly string[]>>

interface Member {
  plane: string
  /** A sort key: the oldest Gateway wins. */
  age: string
  ir: Ir
  endpoints: Endpoints
}

/** A Gateway of a shared data plane, with the keys of its binds. */
export interface PlaneMember {
  gateway: string
  binds: readonly string[]
}

/**
 * The Gateways with shared data planes. Their configs are merged outside of the graph, so that a Gateway whose config waits
 * for a Secret does not hold up the others.
 */
export class SharedPlanes {
  readonly #members = new Map<string, Member>()
  readonly #changed = new Set<string>()
  readonly #reached = new Set<string>()

  /** The key of the data plane of a Gateway: its own key when the Gateway shares none. */
  planeOf(gateway: string): string {
    return this.#members.get(gateway)?.plane ?? gateway
  }

  /** The Gateways of a shared data plane, the oldest first. */
  membersOf(plane: string): PlaneMember[] {
    return this.#of(plane).map(([gateway, { ir }]) => ({ gateway, binds: ir.binds.map(({ key }) => key) }))
  }

  put(gateway: string, member: Omit<Member, 'endpoints'>): void {
    const before = this.#members.get(gateway)
    if (before !== undefined && before.plane !== member.plane) this.remove(gateway)
    this.#members.set(gateway, { ...member, endpoints: before?.endpoints ?? {} })
    this.#changed.add(member.plane)
    this.#reached.add(member.plane)
  }

  reach(gateway: string, endpoints: Endpoints): void {
    const member = this.#members.get(gateway)
    if (member === undefined) return
    member.endpoints = endpoints
    this.#reached.add(member.plane)
  }

  remove(gateway: string): void {
    const { plane } = this.#members.get(gateway) ?? {}
    if (plane === undefined) return
    this.#members.delete(gateway)
    this.#changed.add(plane)
    this.#reached.add(plane)
  }

  /** Returns the configs and addresses of data planes that changed since the last call; null when no Gateway is left. */
  flush(): { configs: [plane: string, ir: Ir | null][]; endpoints: [plane: string, endpoints: Endpoints | null][] } {
    const configs = [...this.#changed].map((plane): [string, Ir | null] => {
      const members = this.#of(plane).map(([gateway, { ir }]) => ({ gateway, ir }))
      return [plane, members.length === 0 ? null : mergeConfigs(members)]
    })
    const endpoints = [...this.#reached].map((plane): [string, Endpoints | null] => {
      const members = this.#of(plane)
      return [plane, members.length === 0 ? null : mergeEndpoints(members.map(([, member]) => member.endpoints))]
    })
    this.#changed.clear()
    this.#reached.clear()
    return { configs, endpoints }
  }

  #of(plane: string): [gateway: string, member: Member][] {
    return [...this.#members]
      .filter(([, member]) => member.plane === plane)
      .toSorted(([, one], [, other]) => compare(one.age, other.age))
  }
}
