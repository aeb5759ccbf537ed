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

export type Verdict = 'programmed' | 'pending' | 'wait'

/** A change is under way to data planes for less than this, usually. */
const GRACE_MS = 2_000

/** Whether Gateways are programmed: what a data plane has taken once counts until it is known to be otherwise. */
export class Programmed {
  readonly #takenByKey = new Map<string, number>()
  /** Since when an answer to a new generation is waited for. */
  readonly #waitingByKey = new Map<string, { generation: number; since: number }>()
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** With `wait`, whoever asks comes back when something has happened, or after a while. */
  judge(key: string, { generation, connected, acknowledged, ready, hasOthers, saidBefore }: Standing): Verdict {
    const taken = this.#takenByKey.get(key)
    const lives = connected > 0 || ready > 0
    const isTaken = acknowledged || (taken === generation && lives)
    const isTakenElsewhere = connected === 0 && ready > 0 && (hasOthers || saidBefore)
    if (isTaken || isTakenElsewhere) {
      if (acknowledged) this.#takenByKey.set(key, generation)
      this.#waitingByKey.delete(key)
      return 'programmed'
    }
    return taken !== undefined && lives && this.#isInGrace(key, generation) ? 'wait' : 'pending'
  }

  forget(key: string): void {
    this.#takenByKey.delete(key)
    this.#waitingByKey.delete(key)
  }

  #isInGrace(key: string, generation: number): boolean {
    const now = this.#now()
    let waiting = this.#waitingByKey.get(key)
    if (waiting?.generation !== generation) this.#waitingByKey.set(key, (waiting = { generation, since: now }))
    return now - waiting.since < GRACE_MS
  }
}
