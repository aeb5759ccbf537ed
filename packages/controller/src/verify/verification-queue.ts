/** A GwPolicy whose tests are to run. */
interface QueueEntry {
  /** The earliest time of the next run. */
  dueAt: number
  /** The shortest time until the run after that, which grows while runs follow each other. */
  gapMs: number
  isQueued: boolean
}

/**
 * Orders the runs of tests. A policy that changes often waits longer and longer, and namespaces take turns, so that
 * neither delays the policies of others.
 */
export class VerificationQueue {
  readonly #entries = new Map<string, QueueEntry>()
  /** The time of the last run, by namespace. */
  readonly #lastRuns = new Map<string, number>()

  /** Policies that wait for a run. */
  get size(): number {
    return this.#entries.values().reduce((sum, { isQueued }) => sum + (isQueued ? 1 : 0), 0)
  }

  add(key: string): void {
    const entry = this.#entries.get(key) ?? { dueAt: 0, gapMs: FIRST_GAP_MS, isQueued: false }
    entry.isQueued = true
    this.#entries.set(key, entry)
  }

  drop(key: string): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
    this.#lastRuns.clear()
  }

  /** Takes the next policy that is due; otherwise returns the time of the next one, null when none waits. */
  next(now: number): { key: string } | { at: number } | null {
    let found: string | null = null
    let at = Infinity
    for (const [key, entry] of this.#entries) {
      if (!entry.isQueued) continue
      at = Math.min(at, entry.dueAt)
      if (entry.dueAt <= now && (found === null || this.#lastRunOf(key) < this.#lastRunOf(found))) found = key
    }
    if (found === null) return at === Infinity ? null : { at }
    const entry = this.#entries.get(found)
    if (entry !== undefined) entry.isQueued = false
    return { key: found }
  }

  /** Called after a run that took `tookMs`. */
  ran(key: string, now: number, tookMs: number): void {
    this.#lastRuns.set(namespaceOf(key), now)
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    const isQuiet = now - entry.dueAt > QUIET_MS
    entry.gapMs = Math.max(isQuiet ? FIRST_GAP_MS : Math.min(2 * entry.gapMs, MOST_GAP_MS), COST_FACTOR * tookMs)
    entry.dueAt = now + entry.gapMs
  }

  #lastRunOf(key: string): number {
    return this.#lastRuns.get(namespaceOf(key)) ?? 0
  }
}

function namespaceOf(key: string): string {
  return key.slice(0, key.indexOf('/'))
}

const FIRST_GAP_MS = 500
const MOST_GAP_MS = 60_000
/** After this time without a run, the gap of a policy is `FIRST_GAP_MS` again. */
const QUIET_MS = 60_000
/** The tests of one policy take at most one part in this many of the time of a core. */
const COST_FACTOR = 4
