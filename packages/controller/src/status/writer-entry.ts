import type { Kind, Resource } from '@portico/translate'
import type { Backoff } from '../kube/backoff.ts'

/** One object whose status is written, and how that went. */
export interface Entry {
  kind: Kind
  key: string
  /** The answer to the last write, while the watch has not brought it yet. */
  written: Resource | null
  wroteAt: number
  /** What was last asked for, to see who keeps changing it. */
  text: string
  backoff: Backoff
  timer: NodeJS.Timeout | null
  isRunning: boolean
  isStale: boolean
}

/** `kind/key` */
export function entryOf(id: string, backoff: Backoff): Entry {
  const slash = id.indexOf('/')
  const [kind, key] = [id.slice(0, slash) as Kind, id.slice(slash + 1)]
  const blank = { written: null, wroteAt: -Infinity, text: '', timer: null, isRunning: false, isStale: false }
  return { kind, key, backoff, ...blank }
}

/** How long to wait with a write: a moment after the last one, and longer for what was written already. */
export function pauseBefore(entry: Entry, patch: object, gapMs: number): number {
  if (entry.timer !== null) return 1
  const since = performance.now() - entry.wroteAt
  const text = textOf(patch)
  if (text === entry.text && since < FORGET_MS) {
    entry.text = ''
    return entry.backoff.next()
  }
  if (text !== entry.text && entry.text !== '') entry.backoff.reset()
  return gapMs - since
}

const FORGET_MS = 60_000

/** Without times, which are others at every try. */
export function textOf(patch: object): string {
  return JSON.stringify(patch, (name, value: unknown) => (name === 'lastTransitionTime' ? undefined : value))
}

/** Versions are numbers, whatever is said about them. */
export function newerOf(seen: Resource, written: Resource | null): Resource {
  if (written === null || written.metadata.uid !== seen.metadata.uid) return seen
  const [one, other] = [seen, written].map(({ metadata }) => Number(metadata.resourceVersion))
  return (other ?? 0) > (one ?? 0) ? written : seen
}

export function clearTimer(entry: Entry | undefined): void {
  if (entry?.timer) clearTimeout(entry.timer)
  if (entry !== undefined) entry.timer = null
}
