import type { TargetSession } from './target-session.ts'

/** A stdio target with its processes, and the sessions that use them. */
export interface ProcessTarget {
  /** Whether the target has neither sessions nor processes. */
  readonly isEmpty: boolean
  /** Returns the link of the session to the target, and creates it if needed. */
  sessionLink(session: string): TargetSession
  /** Ends the session, and its own process. */
  end(session: string): void
  /** Called when the config has dropped the target: running requests may finish, then sessions and processes end. */
  retire(): void
  /** Ends all sessions and processes; resolves when no process is left. */
  close(): Promise<void>
  /** Sends SIGKILL to all processes at once. */
  kill(): void
}

/** Runs `sweep` at an interval until it returns false. */
export class Sweeper {
  readonly #sweep: () => boolean
  #everyMs: number
  #timer: NodeJS.Timeout | null = null

  constructor(everyMs: number, sweep: () => boolean) {
    this.#everyMs = everyMs
    this.#sweep = sweep
  }

  start(): void {
    this.#timer ??= setInterval(() => {
      if (!this.#sweep()) this.stop()
    }, this.#everyMs).unref()
  }

  hurry(everyMs: number): void {
    this.stop()
    this.#everyMs = everyMs
    this.start()
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }
}

/** Returns the interval of sweeps: an idle session ends at most a quarter of its timeout late. */
export function sweepEveryMs(idleTimeoutMs: number): number {
  return Math.min(MAX_SWEEP_MS, Math.max(MIN_SWEEP_MS, idleTimeoutMs / 4))
}

const MIN_SWEEP_MS = 20
const MAX_SWEEP_MS = 15_000
/** How long running requests may take after the config has dropped their target. */
export const RETIRE_MS = 30_000
export const RETIRE_SWEEP_MS = 100
