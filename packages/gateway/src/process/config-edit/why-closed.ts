import type { Collector } from '../../telemetry/metrics/metrics-collect.ts'

interface SourceKind {
  /** The path of the file; empty without one. */
  path: string
  /** Whether the text is in memory and not in a file. */
  isInMemory: boolean
  isManifests: boolean
  isControlled: boolean
}

/** Why there is no file of a config to be changed; null where there is one. */
export function whyNoFile({ path, isInMemory, isManifests, isControlled }: SourceKind): string | null {
  if (isControlled) return 'this gateway takes its config from a controller: change the resources of its cluster'
  if (isInMemory) return null
  if (path === '') return 'this gateway was started without a config file: write one, and start it with `-f <file>`'
  return isManifests ? 'the config comes from manifests: change the manifests' : null
}

/** Why the file may not be changed from here; null where it may. */
export function whyClosed({ isAllowed, hasToken }: { isAllowed: boolean; hasToken: boolean }): string | null {
  if (!isAllowed)
    return 'changes from here are off: write `config: { ui: { edit: true } }` into the file, and restart the gateway'
  return hasToken
    ? null
    : 'changes from here need an admin token: add one with the scope Write to `config.admin.tokens`, or set the variable ADMIN_TOKEN and restart the gateway'
}

/** How many connections of clients are open, by the key of their bind. */
export function connectionsByBind(collector: Pick<Collector, 'read'>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { name, points } of collector.read()) {
    if (name !== 'portico_downstream_connections_active') continue
    for (const { values, totals } of points) {
      const [bind = ''] = values
      counts.set(bind, (counts.get(bind) ?? 0) + (totals[0] ?? 0))
    }
  }
  return counts
}
