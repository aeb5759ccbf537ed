/** One record of a traced request; times are microseconds from its start. */
export interface TraceEvent {
  eventStart: number | null
  eventEnd: number
  severity: 'info' | 'success' | 'warn' | 'error'
  message: { type: string; [field: string]: unknown }
}

/** The last event of every request: the stream ends with it. */
export const LAST_EVENT = 'requestFinished'

export type TraceToWorker =
  /** From now on this watcher may be armed; answered by `watching`. */
  { type: 'watch'; id: number; slot: number; expression: string | null } | { type: 'unwatch'; id: number }

export type TraceFromWorker =
  | { type: 'watching'; id: number }
  /** The first one says that the watcher has its request. */
  | { type: 'traced'; id: number; event: TraceEvent }
