import type { Seat } from './seat.ts'

/** A target with its processes, and the sessions that use them. */
export interface ProcessTarget {
  /** No session uses it, and no process of it is left. */
  readonly isEmpty: boolean
  /** The place of the session, made when it has none. */
  seat(session: string): Seat
  /** The session is over, and whatever it had to itself ends. */
  end(session: string): void
  /** The config does not have it any more: what is under way may finish, and then everything ends. */
  retire(): void
  /** Everything ends; resolves when no process is left. */
  close(): Promise<void>
  /** At once, without a word. */
  kill(): void
}

/** Runs `sweep` now and then while there is something to sweep, which its answer says. */
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

/** How often sessions are looked at: an idle one ends at most a quarter of its limit late. */
export function sweepEveryMs(idleTimeoutMs: number): number {
  return Math.min(MAX_SWEEP_MS, Math.max(MIN_SWEEP_MS, idleTimeoutMs / 4))
}

const MIN_SWEEP_MS = 20
const MAX_SWEEP_MS = 15_000
/** How long what is under way may go on at a target that the config has lost. */
export const RETIRE_MS = 30_000
export const RETIRE_SWEEP_MS = 100
