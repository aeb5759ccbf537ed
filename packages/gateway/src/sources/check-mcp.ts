import type { Report } from './report.ts'
import type { Spot } from './tree.ts'

/** A target that takes the host of a backend needs one that has a host. */
export function checkMcpTargets(root: Spot, backendsByName: ReadonlyMap<string, Spot>, report: Report): void {
  const listeners = root.at('binds').items.flatMap((bind) => bind.at('listeners').items)
  const entries = listeners.flatMap((listener) =>
    listener.at('routes').items.flatMap((route) => route.at('backends').items),
  )
  for (const backend of [...root.at('backends').items, ...entries]) {
    for (const target of backend.in('mcp', 'targets').items) {
      for (const kind of ['static', 'openapi']) {
        const name = target.in(kind, 'backendRef', 'name')
        const named = backendsByName.get(name.text ?? '')
        if (named === undefined || named.in('static', 'host').exists) continue
        report('conflict', name, { found: 'found a backend without a host', expected: 'a backend with `static.host`' })
      }
    }
  }
}
