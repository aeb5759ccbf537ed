import type { Resource } from '@portico/translate'
import type { KubeClient } from './kube-client.ts'
import { isStatus } from './kube-error.ts'
import type { ApiKind } from './kinds.ts'
import { createObject, getObject, updateObject } from './objects.ts'

const LEASE: ApiKind = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
}

interface ElectionOptions {
  namespace: string
  name: string
  /** Unique among all candidates, including earlier processes of this one. */
  identity: string
  /** How long others wait for a silent leader, in milliseconds. */
  leaseMs?: number
  /** How long a leader that cannot renew keeps leading. Shorter than the lease, so that two never lead. */
  renewMs?: number
  retryMs?: number
  /** Called when an attempt fails; the election continues. */
  onError?: (error: unknown) => void
}

interface LeaseSpec {
  holderIdentity?: string
  leaseDurationSeconds?: number
  acquireTime?: string
  renewTime?: string
  leaseTransitions?: number
}

/** The clock of one candidate. It need not agree with the clocks of others or of the API server. */
export interface ElectionClock {
  /** Returns a monotonic time in milliseconds. */
  now(): number
  /** Runs the callback after `ms`; returns a function that cancels the timer. */
  after(ms: number, run: () => void): () => void
}

const SYSTEM_CLOCK: ElectionClock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}

/** The holder of the lease after an attempt to take or renew it. */
type Holder = 'us' | 'another' | 'unknown'

/**
 * One leader among several, by a Lease that it renews. Leadership ends `renewMs` after the last successful renewal was
 * sent, whatever requests are under way then; others wait `leaseMs` from when they saw that renewal, which is later. So
 * two never lead at once, as long as clocks run at about the same speed.
 */
export class Election {
  readonly #client: Pick<KubeClient, 'ask'>
  readonly #options: Required<Omit<ElectionOptions, 'onError'>> & Pick<ElectionOptions, 'onError'>
  /** The lease as last seen, and when it was first seen so by our own clock, because other clocks may be wrong. */
  #seen: { version: string | undefined; at: number } = { version: undefined, at: 0 }

  readonly #clock: ElectionClock

  constructor(client: Pick<KubeClient, 'ask'>, options: ElectionOptions, clock: ElectionClock = SYSTEM_CLOCK) {
    this.#client = client
    this.#options = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000, ...options }
    this.#clock = clock
    const { renewMs, leaseMs } = this.#options
    if (renewMs >= leaseMs) throw new RangeError(`renewMs (${renewMs}) must be less than leaseMs (${leaseMs})`)
  }

  /** Leads whenever it can until the signal aborts. The signal passed to `lead` aborts when leadership ends. */
  async run(signal: AbortSignal, lead: (leading: AbortSignal) => void): Promise<void> {
    const { renewMs } = this.#options
    while (!signal.aborted) {
      // The lease counts from before the request, because the response may be late.
      const askedAt = this.#clock.now()
      const holder = await this.#try(renewMs)
      const endsAt = askedAt + renewMs
      if (holder !== 'us' || signal.aborted || this.#clock.now() >= endsAt) {
        await this.#pause(signal)
        continue
      }
      const leading = new AbortController()
      lead(leading.signal)
      await this.#renew(endsAt, leading, signal)
      leading.abort()
    }
    await this.#release()
  }

  /** Leads until `endsAt`, extended by each renewal. The deadline ends leadership even while a request hangs. */
  async #renew(endsAt: number, leading: AbortController, signal: AbortSignal): Promise<void> {
    const end = (): void => leading.abort()
    let callOff = this.#clock.after(endsAt - this.#clock.now(), end)
    const either = AbortSignal.any([signal, leading.signal])
    let until = endsAt
    for (;;) {
      await this.#pause(either)
      const askedAt = this.#clock.now()
      if (either.aborted || askedAt >= until) break
      const holder = await this.#try(until - askedAt)
      if (either.aborted || holder === 'another') break
      if (holder === 'unknown') continue
      until = askedAt + this.#options.renewMs
      callOff()
      callOff = this.#clock.after(until - this.#clock.now(), end)
    }
    callOff()
  }

  /** Takes or renews the lease; the holder is unknown if that takes longer than `limitMs`. */
  async #try(limitMs: number): Promise<Holder> {
    const late = Promise.withResolvers<Holder>()
    const callOff = this.#clock.after(limitMs, () => late.resolve('unknown'))
    try {
      return await Promise.race([this.#take(), late.promise])
    } catch (error) {
      // Another candidate was faster.
      if (!isStatus(error, 409)) this.#options.onError?.(error)
      return 'unknown'
    } finally {
      callOff()
    }
  }

  async #take(): Promise<Holder> {
    const { namespace, name } = this.#options
    const lease = await getObject(this.#client, LEASE, { namespace, name })
    if (lease === undefined) {
      await createObject(this.#client, LEASE, { metadata: { namespace, name }, spec: this.#spec({}) })
      return 'us'
    }
    const spec = (lease.spec ?? {}) as LeaseSpec
    if (!this.#isOurs(lease, spec)) return 'another'
    const metadata = { ...lease.metadata }
    await updateObject(this.#client, LEASE, { metadata, spec: this.#spec(spec) })
    return 'us'
  }

  /** Whether we may take the lease: we hold it, nobody does, or its holder has been silent for too long. */
  #isOurs({ metadata: { resourceVersion } }: Resource, { holderIdentity, leaseDurationSeconds }: LeaseSpec): boolean {
    const now = this.#clock.now()
    if (this.#seen.version !== resourceVersion) this.#seen = { version: resourceVersion, at: now }
    if (!holderIdentity || holderIdentity === this.#options.identity) return true
    const { leaseMs } = this.#options
    return now - this.#seen.at > (leaseDurationSeconds === undefined ? leaseMs : leaseDurationSeconds * 1000)
  }

  #spec(before: LeaseSpec): LeaseSpec {
    const now = microTime()
    const isRenewal = before.holderIdentity === this.#options.identity
    const { acquireTime = now, leaseTransitions = 0 } = before
    return {
      holderIdentity: this.#options.identity,
      leaseDurationSeconds: Math.ceil(this.#options.leaseMs / 1000),
      acquireTime: isRenewal ? acquireTime : now,
      renewTime: now,
      leaseTransitions: isRenewal || before.holderIdentity === undefined ? leaseTransitions : leaseTransitions + 1,
    }
  }

  /** Releases the lease, so that the next candidate can lead at once. */
  async #release(): Promise<void> {
    const { namespace, name, identity } = this.#options
    try {
      const lease = await getObject(this.#client, LEASE, { namespace, name })
      const spec = (lease?.spec ?? {}) as LeaseSpec
      if (lease === undefined || spec.holderIdentity !== identity) return
      const released = { ...spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime() }
      await updateObject(this.#client, LEASE, { metadata: lease.metadata, spec: released })
    } catch (error) {
      this.#options.onError?.(error)
    }
  }

  async #pause(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    const over = Promise.withResolvers<void>()
    const callOff = this.#clock.after(this.#options.retryMs * (0.8 + Math.random() * 0.4), over.resolve)
    const stop = (): void => over.resolve()
    signal.addEventListener('abort', stop, { once: true })
    await over.promise
    signal.removeEventListener('abort', stop)
    callOff()
  }
}

/** The API server requires six digits after the seconds. */
function microTime(): string {
  return new Date().toISOString().replace('Z', '000Z')
}
