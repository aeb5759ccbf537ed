import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { listRequests } from '../api/queries.ts'
import { filterParameters, parseFilter } from './filter.ts'
import { followRequests, type TailState } from './live-tail.ts'
import { RequestStore, type Shown } from './request-store.ts'

export interface Requests {
  shown: Shown
  /** The first page of history is on its way. */
  isLoading: boolean
  /** Why there is none: what the gateway said, or that it is gone. */
  error: Error | null
  tail: TailState | 'held'
  /** Reads the next page of history. */
  more: () => void
  retry: () => void
}

interface Loaded {
  isLoading: boolean
  error: Error | null
}

/** The requests that a filter lets through: history, and what happens now unless it is held. */
export function useRequests(filter: string, isHeld: boolean): Requests {
  const [store] = useState(() => new RequestStore())
  const [{ isLoading, error }, setLoaded] = useState<Loaded>({ isLoading: true, error: null })
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

function asError(failure: unknown): Error {
  return failure instanceof Error ? failure : new Error(String(failure))
}

const PAGE = 200
