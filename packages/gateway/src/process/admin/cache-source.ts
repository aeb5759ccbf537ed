import type { CacheSource } from '../../admin/caches/cache-api.ts'
import type { CacheListView, CacheView } from '../../admin/caches/cache-view.ts'
import type { KeysSource } from '../../admin/keys/keys-routes.ts'
import { printDollars } from '../../admin/print-dollars.ts'
import type { CacheCommandAnswer, CacheFigures } from '../../cache/cache-command.ts'
import type { AnswerSelection } from '../../stores/answers/answer-store.ts'
import type { Logger } from '../../telemetry/log/logger.ts'

interface CacheSourceParts {
  readonly workers: {
    cacheFigures(): Promise<readonly (CacheCommandAnswer | null)[]>
    purgeCaches(selection: AnswerSelection): Promise<readonly (CacheCommandAnswer | null)[]>
  }
  /** Keeps the list of changes; null without `config.keys`. */
  readonly keys: KeysSource | null
  readonly log: Logger
}

/** The response caches of all workers, for the admin API. */
export function createCacheSource({ workers, keys, log }: CacheSourceParts): CacheSource {
  return {
    figures: async () => sumUp(await workers.cacheFigures()),
    async purge(selection, by) {
      const answers = await workers.purgeCaches(selection)
      const purges = answers.flatMap((answer) => (answer?.kind === 'purged' ? [answer] : []))
      const purged = purges.reduce((sum, answer) => sum + answer.purged, 0)
      const isSharedPurged = purges.some(({ isStorePurged }) => isStorePurged === true)
      const problem = problemOf(purged, {
        silent: answers.length - purges.length,
        isStoreSilent: !isSharedPurged && purges.some(({ isStorePurged }) => isStorePurged === false),
      })
      const what = selection === 'all' ? { all: true } : selection
      log.info('response caches purged', { ...what, by, answers: purged, ...(problem !== null && { problem }) })
      await keys?.ask({
        ask: 'note',
        entry: {
          ...{ at: new Date().toISOString(), by, action: 'purge', kind: 'cache', name: nameOf(selection) },
          ...{ before: null, after: { ...what, purged, ...(problem !== null && { problem }) } },
        },
      })
      return problem === null ? { purged, isSharedPurged } : { problem }
    },
  }
}

function problemOf(
  purged: number,
  { silent, isStoreSilent }: { silent: number; isStoreSilent: boolean },
): string | null {
  const problems = [
    ...(isStoreSilent ? ['Redis did not confirm the purge'] : []),
    ...(silent > 0 ? [`${silent} workers are too busy to answer`] : []),
  ]
  if (problems.length === 0) return null
  return `${purged} answers in memory were purged, but ${problems.join(', and ')}: purge again`
}

function nameOf(selection: AnswerSelection): string {
  return selection === 'all' ? 'all' : Object.values(selection).join('')
}

function sumUp(answers: readonly (CacheCommandAnswer | null)[]): CacheListView {
  const known = answers.flatMap((answer) => (answer?.kind === 'figures' ? [answer.caches] : []))
  const byName = Map.groupBy(known.flat(), ({ name }) => name)
  const caches = [...byName].map(([name, parts]) => viewOf(name, parts))
  return {
    caches: caches.toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    silentWorkers: answers.length - known.length,
  }
}

function viewOf(name: string, parts: readonly CacheFigures[]): CacheView {
  const sum = (field: 'entries' | 'bytes' | 'maxBytes' | 'hits' | 'misses' | 'bypasses'): number =>
    parts.reduce((total, part) => total + part[field], 0)
  const stored = parts.find((part) => part.stored !== null)?.stored ?? null
  return {
    ...{ name, entries: sum('entries'), bytes: sum('bytes'), maxBytes: sum('maxBytes') },
    ...{ hits: sum('hits'), misses: sum('misses'), bypasses: sum('bypasses') },
    savedUsd: printDollars(parts.reduce((total, part) => total + part.savedNanoDollars, 0n)),
    isShared: parts.some(({ isShared }) => isShared),
    shared: stored === null ? null : { entries: stored.entries, tenants: stored.scopes, bytes: stored.bytes },
  }
}
