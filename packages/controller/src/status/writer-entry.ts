import type { Kind, Resource } from '@portico/translate'
import type { Backoff } from '../kube/backoff.ts'

/** The state of the writes of one object. */
export interface Entry {
  kind: Kind
  key: string
  /** The response to the last write, until the watch catches up. */
  written: Resource | null
  wroteAt: number
  /** The last written patch without times, to detect a writer that keeps changing it back. */
  text: string
  backoff: Backoff
  timer: NodeJS.Timeout | null
  isRunning: boolean
  isStale: boolean
}

/** Creates the entry of `kind/key`. */
export function entryOf(id: string, backoff: Backoff): Entry {
  const slash = id.indexOf('/')
  const [kind, key] = [id.slice(0, slash) as Kind, id.slice(slash + 1)]
  const blank = { written: null, wroteAt: -Infinity, text: '', timer: null, isRunning: false, isStale: false }
  return { kind, key, backoff, ...blank }
}

/** Returns the wait before a write in milliseconds: the minimum gap, and longer for a repeated write. */
export function pauseBefore(entry: Entry, patch: object, gapMs: number): number {
  if (entry.timer !== null) return 1
  const since = performance.now() - entry.wroteAt
  const text = withoutTimes(patch)
  if (text === entry.text && since < FORGET_MS) {
    entry.text = ''
    return entry.backoff.next()
  }
  if (text !== entry.text && entry.text !== '') entry.backoff.reset()
  return gapMs - since
}

const FORGET_MS = 60_000

/** The patch without times, which differ at every attempt. */
export function withoutTimes(patch: object): string {
  return JSON.stringify(patch, (name, value: unknown) => (name === 'lastTransitionTime' ? undefined : value))
}

/** Resource versions are compared as numbers. */
export function newerOf(seen: Resource, written: Resource | null): Resource {
  if (written === null || written.metadata.uid !== seen.metadata.uid) return seen
  const [one, other] = [seen, written].map(({ metadata }) => Number(metadata.resourceVersion))
  return (other ?? 0) > (one ?? 0) ? written : seen
}

export function clearTimer(entry: Entry | undefined): void {
  if (entry?.timer) clearTimeout(entry.timer)
  if (entry !== undefined) entry.timer = null
}
