/** What a controller knows of the data planes of one Gateway. */
export interface Standing {
  generation: number
  /** Connected to this controller. */
  connected: number
  /** One of them runs the newest config. */
  acknowledged: boolean
  /** Pods that say that they can serve, wherever they are connected. */
  ready: number
  /** There are other controllers, to which data planes may be connected. */
  hasOthers: boolean
  /** The status of the Gateway says so already, of this generation. */
  saidBefore: boolean
}

/** `unanswered`: data planes that had an earlier generation have said nothing of this one. */
export type Verdict = 'programmed' | 'pending' | 'unanswered'

/** Whether Gateways are programmed: what a data plane has taken once counts until it is known to be otherwise. */
export class Programmed {
  readonly #takenByKey = new Map<string, number>()

  judge(key: string, { generation, connected, acknowledged, ready, hasOthers, saidBefore }: Standing): Verdict {
    const taken = this.#takenByKey.get(key)
    const lives = connected > 0 || ready > 0
    const isTaken = acknowledged || (taken === generation && lives)
    const isTakenElsewhere = connected === 0 && ready > 0 && (hasOthers || saidBefore)
    if (acknowledged) this.#takenByKey.set(key, generation)
    if (isTaken || isTakenElsewhere) return 'programmed'
    return taken !== undefined && lives ? 'unanswered' : 'pending'
  }

  forget(key: string): void {
    this.#takenByKey.delete(key)
  }
}
