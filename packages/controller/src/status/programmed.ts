/** What a controller knows of the data planes of one Gateway. */
export interface Standing {
  generation: number
  /** Connected to this controller, or to another one that is heard. */
  connected: number
  /** Connected data planes without a listening worker. */
  notServing: number
  /** A data plane that serves runs the newest config. */
  acknowledged: boolean
  /** Pods that say that they can serve, wherever they are connected. */
  ready: number
  /** There is another controller of which nothing is heard, and data planes may be connected to it. */
  isBlind: boolean
  /** The status of the Gateway says so already, of this generation. */
  saidBefore: boolean
}

/**
 * `unanswered`: data planes that had an earlier generation have said nothing of this one. `lost`: the Gateway was served,
 * and no data plane is left that serves it.
 */
export type Verdict = 'programmed' | 'pending' | 'unanswered' | 'lost'

/** Whether Gateways are programmed: what a data plane has taken once counts as long as a data plane serves. */
export class Programmed {
  readonly #takenByKey = new Map<string, number>()

  judge(
    key: string,
    { generation, connected, notServing, acknowledged, ready: readyPods, isBlind, saidBefore }: Standing,
  ): Verdict {
    const taken = this.#takenByKey.get(key)
    // A probe may not have noticed yet what the data plane itself says.
    const ready = Math.max(0, readyPods - notServing)
    const lives = connected > notServing || ready > 0
    const isTaken = acknowledged || (taken === generation && lives)
    // Who has just begun to lead, or does not hear all others, takes nothing back that was said.
    const isSaidStill = saidBefore && ready > 0 && (connected === 0 || isBlind)
    if (acknowledged) this.#takenByKey.set(key, generation)
    if (isTaken || isSaidStill) return 'programmed'
    if (!lives && (taken !== undefined || saidBefore)) return 'lost'
    return taken !== undefined ? 'unanswered' : 'pending'
  }

  forget(key: string): void {
    this.#takenByKey.delete(key)
  }
}
