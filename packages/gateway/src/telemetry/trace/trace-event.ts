/** One record of a traced request; times are microseconds from its start. */
export interface TraceEvent {
  eventStart: number | null
  eventEnd: number
  severity: 'info' | 'success' | 'warn' | 'error'
  message: { type: string; [field: string]: unknown }
}

/** The type of the last event of every request. */
export const LAST_EVENT = 'requestFinished'

export type TraceToWorker =
  /** Adds a watcher, which may be armed later; the worker confirms with `watching`. */
  { type: 'watch'; id: number; slot: number; expression: string | null } | { type: 'unwatch'; id: number }

export type TraceFromWorker =
  | { type: 'watching'; id: number }
  /** The first event also says that the watcher has claimed its request. */
  | { type: 'traced'; id: number; event: TraceEvent }
