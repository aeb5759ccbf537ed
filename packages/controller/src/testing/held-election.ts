import { setImmediate as turn } from 'node:timers/promises'
import type { Ask } from '../kube/kube-client.ts'
import { KubeError } from '../kube/kube-error.ts'
import { Election, type ElectionClock } from '../kube/lease.ts'

/** A fake clock that waits until every promise has settled, then jumps to the next timer. */
export class HeldTime {
  now = 0
  readonly #due: { at: number; order: number; run: () => void }[] = []
  #order = 0

  at(time: number, run: () => void): () => void {
    const entry = { at: Math.max(time, this.now), order: this.#order++, run }
    this.#due.push(entry)
    return () => {
      const index = this.#due.indexOf(entry)
      if (index !== -1) this.#due.splice(index, 1)
    }
  }

  async runUntil(end: number, check: () => void): Promise<void> {
    for (;;) {
      await turn()
      check()
      this.#due.sort((a, b) => a.at - b.at || a.order - b.order)
      const next = this.#due[0]
      if (next === undefined || next.at > end) return
      this.#due.shift()
      this.now = next.at
      next.run()
      check()
    }
  }

  /** A clock with its own start and rate. */
  clock(offset: number, rate: number): ElectionClock {
    return {
      now: () => offset + this.now * rate,
      after: (ms, run) => this.at(this.now + ms / rate, run),
    }
  }
}

export interface HeldLease {
  metadata: { resourceVersion: string }
  spec: {
    holderIdentity?: string
    leaseDurationSeconds?: number
    acquireTime?: string
    renewTime?: string
    leaseTransitions?: number
  }
}

/** The fate of a request: its latency to the API server and back, and whether the request or the response is lost. */
export interface Fate {
  there: number
  back: number
  isLost: 'no' | 'request' | 'response'
  isRefused: boolean
}

export class HeldApi {
  readonly #time: HeldTime
  readonly #fate: () => Fate
  lease: HeldLease | undefined
  /** Method and path of each request. */
  readonly asks: string[] = []
  #version = 0

  constructor(time: HeldTime, fate: () => Fate) {
    this.#time = time
    this.#fate = fate
  }

  /** Writes the lease as another client of the API server would. */
  put(spec: HeldLease['spec']): void {
    this.lease = { spec, metadata: { ...this.lease?.metadata, resourceVersion: String(++this.#version) } }
  }

  ask({ method = 'GET', path, body }: Ask): Promise<unknown> {
    this.asks.push(`${method} ${path}`)
    const { there, back, isLost, isRefused } = this.#fate()
    return new Promise((resolve, reject) => {
      if (isLost === 'request') return
      this.#time.at(this.#time.now + there, () => {
        const answer = isRefused ? 500 : this.#serve(method, body as HeldLease | undefined)
        if (isLost === 'response') return
        this.#time.at(this.#time.now + back, () => {
          if (typeof answer === 'number') reject(new KubeError(`${method} lease`, { status: answer }))
          else resolve(answer)
        })
      })
    })
  }

  #serve(method: string, next: HeldLease | undefined): HeldLease | number {
    if (method === 'GET' || next === undefined) return this.lease ?? 404
    const isStale =
      method === 'POST'
        ? this.lease !== undefined
        : this.lease?.metadata.resourceVersion !== next.metadata.resourceVersion
    if (isStale) return 409
    this.lease = { spec: next.spec, metadata: { ...next.metadata, resourceVersion: String(++this.#version) } }
    return this.lease
  }
}

export interface Candidate {
  name: string
  /** How often the candidate started to lead. */
  times: number
  leading: AbortSignal | null
  stop: AbortController
  running: Promise<void>
}

export function candidate(
  name: string,
  api: Pick<HeldApi, 'ask'>,
  clock: ElectionClock,
  times: object = {},
): Candidate {
  const made: Candidate = { name, times: 0, leading: null, stop: new AbortController(), running: Promise.resolve() }
  const election = new Election(api, { namespace: 'shop', name: 'portico', identity: name, ...times }, clock)
  made.running = election.run(made.stop.signal, (leading) => {
    made.times++
    made.leading = leading
  })
  return made
}

export const leadersOf = (all: readonly Candidate[]): string[] =>
  all.flatMap(({ name, leading }) => (leading?.aborted === false ? [name] : []))
