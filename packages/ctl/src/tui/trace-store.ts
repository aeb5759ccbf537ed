import type { TraceEvent } from '../trace/event.ts'

export interface TraceSnapshot {
  readonly events: readonly TraceEvent[]
  readonly status: string
  readonly isTrouble: boolean
}

/** The content of the screen; events arrive before it opens and while it is open. */
export interface TraceStore {
  readonly snapshot: () => TraceSnapshot
  readonly subscribe: (onChange: () => void) => () => void
  add(event: TraceEvent): void
  setStatus(status: string, isTrouble?: boolean): void
}

export function createTraceStore(status: string): TraceStore {
  let current: TraceSnapshot = { events: [], status, isTrouble: false }
  const listeners = new Set<() => void>()
  const change = (next: Partial<TraceSnapshot>) => {
    current = { ...current, ...next }
    for (const listener of listeners) listener()
  }
  return {
    snapshot: () => current,
    subscribe(onChange) {
      listeners.add(onChange)
      return () => listeners.delete(onChange)
    },
    add: (event) => change({ events: [...current.events, event] }),
    setStatus: (status, isTrouble = false) => change({ status, isTrouble }),
  }
}
