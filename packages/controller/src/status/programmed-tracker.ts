/** The state of the data planes of one Gateway. */
export interface Standing {
  generation: number
  /** Data planes connected to this controller, or to another that is reachable. */
  connected: number
  /** Connected data planes without a listening worker. */
  notServing: number
  /** Whether a serving data plane runs the newest config. */
  acknowledged: boolean
  /** Ready Pods, at whichever controller they are connected. */
  ready: number
  /** Whether workloads were read, so that `ready` counts. */
  isReadyKnown: boolean
  /** Whether another controller is unreachable, to which data planes may be connected. */
  isIncomplete: boolean
  /** Whether the status already says Programmed for this generation. */
  saidBefore: boolean
}

/**
 * `unanswered`: it is too early to tell, because data planes have not answered for this generation, or, after the start of
 * this controller, have just connected, or workloads were not read yet. `lost`: the Gateway was served, and
 * no data plane serves it any more.
 */
export type Verdict = 'programmed' | 'pending' | 'unanswered' | 'lost'

/** Decides whether Gateways are programmed. An acknowledged config counts as long as some data plane serves. */
export class ProgrammedTracker {
  readonly #takenByKey = new Map<string, number>()

  judge(
    key: string,
    {
      generation,
      connected,
      notServing,
      acknowledged,
      ready: readyPods,
      isReadyKnown,
      isIncomplete,
      saidBefore,
    }: Standing,
  ): Verdict {
    const taken = this.#takenByKey.get(key)
    // The data plane may report the loss of its workers before the probe fails.
    const ready = Math.max(0, readyPods - notServing)
    const lives = connected > notServing || ready > 0
    const isTaken = acknowledged || (taken === generation && lives)
    // A new leader, or one that cannot reach all controllers, keeps what the status says.
    const isSaidStill = saidBefore && ready > 0 && (connected === 0 || isIncomplete)
    if (acknowledged) this.#takenByKey.set(key, generation)
    if (isTaken || isSaidStill) return 'programmed'
    const wasServed = taken !== undefined || saidBefore
    if (!wasServed) return 'pending'
    return lives || !isReadyKnown ? 'unanswered' : 'lost'
  }

  forget(key: string): void {
    this.#takenByKey.delete(key)
  }
}
