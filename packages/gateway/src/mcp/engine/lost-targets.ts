import { reportFault } from '@portico/http/faults'
import { Deadline, type Deadlines } from '@portico/http'

interface LostTargetsOptions {
  deadlines: Deadlines
  /** Called when a lost target responds again, to tell clients that lists have changed. */
  recovered: (target: string) => void
}

/** Sends a request to a target; resolves with whether it responded. */
export type Probe = () => Promise<boolean>

interface Loss {
  /** The probe of the latest request that was served without the target. */
  probe: Probe
  lastMissedAt: number
  pauseMs: number
  readonly next: Deadline
}

/**
 * The targets that requests were served without. Each is probed until it responds, so that clients which only wait for
 * notifications learn that its tools are back. Probes stop after ten minutes without a request that missed the target.
 */
export class LostTargets {
  readonly #options: LostTargetsOptions
  readonly #byTarget = new Map<string, Loss>()

  constructor(options: LostTargetsOptions) {
    this.#options = options
  }

  /** Called when a request was served without the target. */
  missed(target: string, probe: Probe): void {
    const { deadlines } = this.#options
    const now = deadlines.now()
    const known = this.#byTarget.get(target)
    if (known !== undefined) {
      known.probe = probe
      known.lastMissedAt = now
      return
    }
    const next = new Deadline(() => void this.#probe(target, loss))
    const loss: Loss = { probe, lastMissedAt: now, pauseMs: FIRST_PAUSE_MS, next }
    this.#byTarget.set(target, loss)
    deadlines.set(next, loss.pauseMs)
  }

  /** Called when the target has responded. */
  answered(target: string): void {
    const loss = this.#byTarget.get(target)
    if (loss === undefined) return
    this.#forget(target, loss)
    this.#options.recovered(target)
  }

  async #probe(target: string, loss: Loss): Promise<void> {
    // A probe that throws counts as no response, and the next probe follows.
    const hasAnswered = await loss.probe().catch((error: unknown) => {
      reportFault(error, 'request')
      return false
    })
    if (this.#byTarget.get(target) !== loss) return
    if (hasAnswered) return this.answered(target)
    const { deadlines } = this.#options
    if (deadlines.now() - loss.lastMissedAt > MISSED_MS) return this.#forget(target, loss)
    loss.pauseMs = Math.min(2 * loss.pauseMs, LONGEST_PAUSE_MS)
    deadlines.set(loss.next, loss.pauseMs)
  }

  #forget(target: string, { next }: Loss): void {
    this.#byTarget.delete(target)
    this.#options.deadlines.clear(next)
  }
}

const FIRST_PAUSE_MS = 2_000
const LONGEST_PAUSE_MS = 30_000
const MISSED_MS = 600_000
