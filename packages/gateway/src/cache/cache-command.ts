import type { WorkerCache } from '../state/worker-cache.ts'
import type { AnswerSelection, AnswerStore, StoreFigures } from '../stores/answers/answer-store.ts'
import { type CacheRegistry, REGISTRY_KEY } from './cache-registry.ts'

/** A question to a worker about its response caches. */
export type CacheCommand =
  /** `withStore` also asks the store that gateways share. */
  | { readonly kind: 'figures'; readonly withStore: boolean }
  | { readonly kind: 'purge'; readonly selection: AnswerSelection }

/** One cache in one worker. */
export interface CacheFigures {
  readonly name: string
  readonly entries: number
  readonly scopes: number
  readonly bytes: number
  readonly maxBytes: number
  readonly hits: number
  readonly misses: number
  readonly bypasses: number
  readonly savedNanoDollars: bigint
  readonly isShared: boolean
  /** Null when the cache is not shared, the store was not asked, or does not answer. */
  readonly stored: StoreFigures | null
}

export type CacheCommandAnswer =
  | { readonly kind: 'figures'; readonly caches: readonly CacheFigures[] }
  /** `isStorePurged` is null when no cache of the worker is shared. */
  | { readonly kind: 'purged'; readonly purged: number; readonly isStorePurged: boolean | null }

interface CommandParts {
  readonly kept: WorkerCache
  readonly answers: AnswerStore | null
}

/** Answers a question about the response caches of this worker. */
export async function runCacheCommand(
  command: CacheCommand,
  { kept, answers }: CommandParts,
): Promise<CacheCommandAnswer> {
  const registry = kept.find<CacheRegistry>(REGISTRY_KEY)
  if (command.kind === 'purge') {
    // The store first: the memory must not be filled from it with answers of before.
    const isStorePurged = answers === null ? null : await answers.purge(command.selection)
    return { kind: 'purged', purged: registry?.purge(command.selection) ?? 0, isStorePurged }
  }
  const store = command.withStore ? answers : null
  const caches = [...(registry?.caches ?? [])].map(
    async ([name, { memory, uses, isShared }]): Promise<CacheFigures> => {
      const { hits, misses, bypasses, savedNanoDollars } = uses
      const stored = isShared && store !== null ? await store.figures(name) : null
      const { maxBytes, figures } = memory
      return { name, ...figures, maxBytes, hits, misses, bypasses, savedNanoDollars, isShared, stored }
    },
  )
  return { kind: 'figures', caches: await Promise.all(caches) }
}
