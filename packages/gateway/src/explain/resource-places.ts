import type { AttachedPolicy, Ir } from '../ir/resources.ts'
import { type Path, printPath } from '../schema/problem.ts'
import type { WrittenPlace } from './explanation.ts'

/** Where parts of a config stand that comes from resources of a cluster: attachments and routes carry their names. */
export function resourcePlaces(ir: Ir): (part: object, path: Path) => WrittenPlace | null {
  return (part, path) => {
    const route = ir.routes.find((each) => each === part)
    if (route !== undefined) return named('Route', route.name, path)
    for (const attachment of ir.policies) {
      const found = fieldOf(attachment, part)
      if (found !== null) return placeOf(attachment, [...found, ...path])
    }
    return null
  }
}

/** The way to a part, from the policy that it stands in. */
function fieldOf({ frontend, traffic, backend }: AttachedPolicy, part: object): Path | null {
  for (const [section, own] of Object.entries({ frontend, traffic, backend })) {
    for (const [name, config] of Object.entries(own ?? {}) as [string, unknown][]) {
      if (config === part) return [section, name]
      if (typeof config !== 'object' || config === null) continue
      const inner = (Object.entries(config) as [string, unknown][]).find(([, value]) => value === part)
      if (inner !== undefined) return [section, name, inner[0]]
    }
  }
  return null
}

/** `policy/shop/limits@route/…` is GwPolicy `limits`; what stands in a route or a backend is named by it. */
function placeOf({ key, target }: AttachedPolicy, path: Path): WrittenPlace | null {
  const [, policy] = /^policy\/([^@]*)@/.exec(key) ?? []
  if (policy !== undefined) return named('GwPolicy', policy, ['spec', ...path])
  const place = target.kind === 'gateway' ? '' : target.key
  const name = /([^/]+\/[^/]+)$/.exec(place)?.[1] ?? place
  return named(target.kind === 'backend' ? 'Backend' : 'Route', name, path)
}

function named(kind: string, name: string, path: Path): WrittenPlace {
  const slash = name.indexOf('/')
  const namespace = slash === -1 ? '' : name.slice(0, slash)
  return { kind, namespace, name: name.slice(slash + 1), path: printPath(path) }
}
