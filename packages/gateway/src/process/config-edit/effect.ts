import type { ConfigEffect, LimitChanges, PartChanges } from '../../admin/config-edit-view.ts'
import { affectedBy } from '../../ir/affected.ts'
import { applyChange, changeBetween, type ChangedIr, EMPTY_IR } from '../../ir/change.ts'
import { PoliciesByTarget } from '../../ir/policies-by-target.ts'
import type { Bind, Ir } from '../../ir/resources.ts'
import { SharingMap } from '../../collections/sharing-map.ts'

interface EffectParts {
  /** The live config. */
  live: Ir
  next: Ir
  /** The names of the rate limits of both configs. */
  limits: { live: ReadonlySet<string>; next: ReadonlySet<string> }
  /** Counts the open connections of a bind. */
  connectionsOf: (bind: string) => number
  /** Open requests of each worker by route key; null for a worker that did not answer. */
  open: readonly (ReadonlyMap<string, number> | null)[]
}

/** `effectOf` returns the changes that a reload would make, by key and content. */
export function effectOf({ live, next, limits, connectionsOf, open }: EffectParts): ConfigEffect {
  const change = changeBetween(live, next)
  const changed = change === null ? allChanged(next, live) : applyChange(live, change)
  const { came, gone } = changed
  const byKind = <Kind extends keyof Ir>(kind: Kind): PartChanges =>
    partChanges(live[kind], came[kind], gone[kind], next[kind].length)
  const closed = gone.binds.filter((bind) => !next.binds.some((each) => isSamePort(bind, each)))
  const opened = came.binds.filter((bind) => !live.binds.some((each) => isSamePort(bind, each)))
  const routes = routeChanges(live, changed)
  return {
    binds: byKind('binds'),
    listeners: byKind('listeners'),
    routes: shortened(routes),
    backends: byKind('backends'),
    policies: byKind('policies'),
    ports: { opened: opened.map(portText), closed: closed.map(portText) },
    limits: limitChanges(limits.live, limits.next),
    connections: closed.reduce((sum, { key }) => sum + connectionsOf(key), 0),
    streams: streamsOn([...routes.changed, ...routes.dropped], open),
  }
}

function allChanged(ir: Ir, gone: Ir): ChangedIr {
  return { ir, came: ir, gone: gone === EMPTY_IR ? EMPTY_IR : gone }
}

interface KeyedResource {
  key: string
}

function partChanges(
  before: readonly KeyedResource[],
  came: readonly KeyedResource[],
  gone: readonly KeyedResource[],
  total: number,
): PartChanges {
  const known = new Set(before.map(({ key }) => key))
  const stays = new Set(came.map(({ key }) => key))
  return shortened({
    added: came.filter(({ key }) => !known.has(key)),
    changed: came.filter(({ key }) => known.has(key)),
    dropped: gone.filter(({ key }) => !stays.has(key)),
    total,
  })
}

/** Routes count as changed too when a policy or backend that affects them changes. */
function routeChanges(live: Ir, changed: ChangedIr): AllChanges {
  const { ir, came, gone } = changed
  const index = {
    byTarget: PoliciesByTarget.of(ir.policies),
    backendsByKey: SharingMap.of(ir.backends.map((backend) => [backend.key, backend] as const)),
  }
  const known = new Set(live.routes.map(({ key }) => key))
  const stays = new Set(ir.routes.map(({ key }) => key))
  const isAnything = [came, gone].some((part) =>
    Object.values(part).some((list) => (list as readonly KeyedResource[]).length > 0),
  )
  const affected = isAnything ? affectedBy(changed, index).routesIn(ir.routes) : []
  return {
    added: came.routes.filter(({ key }) => !known.has(key)),
    changed: affected.filter(({ key }) => known.has(key)),
    dropped: gone.routes.filter(({ key }) => !stays.has(key)),
    total: ir.routes.length,
  }
}

/** Counts open requests by route key, which includes requests that began under an older config. */
function streamsOn(routes: readonly KeyedResource[], workers: EffectParts['open']): ConfigEffect['streams'] {
  const heard = workers.filter((counts) => counts !== null)
  const sum = (numbers: Iterable<number>): number => [...numbers].reduce((one, other) => one + other, 0)
  return {
    open: sum(heard.map((counts) => sum(counts.values()))),
    onThem: sum(heard.flatMap((counts) => routes.map(({ key }) => counts.get(key) ?? 0))),
    unheard: workers.length - heard.length,
  }
}

interface AllChanges extends Record<'added' | 'changed' | 'dropped', readonly KeyedResource[]> {
  total: number
}

function shortened({ added, changed, dropped, total }: AllChanges): PartChanges {
  const keys = (list: readonly KeyedResource[]): string[] => list.slice(0, MOST_KEYS).map(({ key }) => key)
  return {
    added: keys(added),
    changed: keys(changed),
    dropped: keys(dropped),
    counts: { added: added.length, changed: changed.length, dropped: dropped.length },
    total,
  }
}

const MOST_KEYS = 100

function isSamePort(one: Bind, other: Bind): boolean {
  return one.key === other.key && one.address === other.address && one.port === other.port
}

function portText({ address, port }: Bind): string {
  return `${address === '' ? '*' : address.includes(':') ? `[${address}]` : address}:${port}`
}

/** The same limit under another name starts with a full budget. */
function limitChanges(live: ReadonlySet<string>, next: ReadonlySet<string>): LimitChanges {
  const gone = [...live.difference(next)]
  const came = [...next.difference(live)]
  const [before, after] = [gone, came].map((names) => new Set(names.map(attachmentOf)))
  return {
    reset: gone.filter((name) => after?.has(attachmentOf(name))),
    added: came.filter((name) => !before?.has(attachmentOf(name))),
    dropped: gone.filter((name) => !after?.has(attachmentOf(name))),
  }
}

/** The part `<attachment>/local/<index>` of the name of a limit. */
function attachmentOf(name: string): string {
  return /^.*?\/local\/\d+/s.exec(name)?.[0] ?? name
}
