import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { listRequests } from '../api/queries.ts'
import { filterParameters, parseFilter } from './filter.ts'
import { followRequests, type TailState } from './live-tail.ts'
import { RequestStore, type RequestRows } from './request-store.ts'
import { asError } from '../api/unknown-values.ts'

export interface Requests {
  shown: RequestRows
  /** Whether the first page of history is still loading. */
  isLoading: boolean
  /** The error of the last read; null when it succeeded. */
  error: Error | null
  tail: TailState | 'held'
  /** Reads the next page of history. */
  more: () => void
  retry: () => void
}

interface LoadState {
  isLoading: boolean
  error: Error | null
}

/** The requests that match a filter: history, and live requests unless the list is paused. */
export function useRequests(filter: string, isHeld: boolean): Requests {
  const [store] = useState(() => new RequestStore())
  const [{ isLoading, error }, setLoaded] = useState<LoadState>({ isLoading: true, error: null })
  const [tail, setTail] = useState<TailState>('connecting')
  const [attempt, setAttempt] = useState(0)
  const query = useMemo(() => filterParameters(parseFilter(filter)).toString(), [filter])

  useEffect(() => {
    const stop = new AbortController()
    store.reset()
    setLoaded({ isLoading: true, error: null })
    readPage(store, query, null, stop.signal).then(
      () => setLoaded({ isLoading: false, error: null }),
      (failure: unknown) => {
        if (!stop.signal.aborted) setLoaded({ isLoading: false, error: asError(failure) })
      },
    )
    return () => stop.abort()
  }, [store, query, attempt])

  useEffect(() => {
    if (isHeld || isLoading || error !== null) return
    return followRequests({
      parameters: new URLSearchParams([...new URLSearchParams(query), ['headline', 'true']]),
      onBatch: ({ requests, omitted }) => store.take(requests, omitted),
      onState: (state, problem) => {
        setTail(state)
        if (problem !== null) setLoaded({ isLoading: false, error: new Error(problem) })
      },
    })
  }, [store, query, isHeld, isLoading, error])

  const shown = useSyncExternalStore(store.subscribe, store.snapshot)
  const [reading, setReading] = useState<string | null>(null)
  const more = (): void => {
    if (shown.next === null || reading === shown.next) return
    setReading(shown.next)
    void readPage(store, query, shown.next).catch(() => setReading(null))
  }
  return {
    shown,
    isLoading,
    error,
    tail: isHeld ? 'held' : tail,
    more,
    retry: () => setAttempt(attempt + 1),
  }
}

async function readPage(
  store: RequestStore,
  query: string,
  before: string | null,
  signal?: AbortSignal,
): Promise<void> {
  const parameters = new URLSearchParams(query)
  parameters.set('headline', 'true')
  parameters.set('limit', String(PAGE))
  if (before !== null) parameters.set('before', before)
  const { requests, next } = await listRequests(parameters, signal)
  store.append(requests, next)
}

const PAGE = 200
