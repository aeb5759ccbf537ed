import { isObject } from '@portico/http/json'
import type { Report } from './report.ts'
import { SETTLED, type SettledParts } from './settled.ts'
import type { Spot } from './tree.ts'

/** Checks that a target that refers to a backend refers to one with a host. */
export function checkMcpTargets(
  root: Spot,
  backendsByName: ReadonlyMap<string, Spot>,
  report: Report,
  settled: SettledParts | null,
): void {
  for (const backend of root.at('backends').items) checkBackend(backend, backendsByName, report)
  for (const listener of root.at('binds').items.flatMap((bind) => bind.at('listeners').items)) {
    for (const route of listener.at('routes').items) {
      if (settled?.has(route.value, SETTLED.mcp) === true) continue
      if (!hasMcpEntry(route)) settled?.add(route.value, SETTLED.mcp)
      else for (const entry of route.at('backends').items) checkBackend(entry, backendsByName, report)
    }
  }
}

function hasMcpEntry(route: Spot): boolean {
  const { value: entries } = route.at('backends')
  return Array.isArray(entries) && entries.some((entry: unknown) => isObject(entry) && entry['mcp'] !== undefined)
}

function checkBackend(backend: Spot, backendsByName: ReadonlyMap<string, Spot>, report: Report): void {
  for (const target of backend.in('mcp', 'targets').items) {
    for (const kind of ['static', 'openapi']) {
      const name = target.in(kind, 'backendRef', 'name')
      const named = backendsByName.get(name.text ?? '')
      if (named === undefined || named.in('static', 'host').exists) continue
      report('conflict', name, { found: 'found a backend without a host', expected: 'a backend with `static.host`' })
    }
  }
}
