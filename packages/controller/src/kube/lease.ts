import { setTimeout as wait } from 'node:timers/promises'
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

export interface ElectionOptions {
  namespace: string
  name: string
  /** Unlike that of every other candidate, of an earlier life too. */
  identity: string
  /** How long others wait for a leader that says nothing. */
  leaseMs?: number
  /** How long a leader that cannot renew still leads: less than the lease, so that there are never two. */
  renewMs?: number
  retryMs?: number
  /** A try failed; it goes on. */
  troubled?: (error: unknown) => void
}

interface LeaseSpec {
  holderIdentity?: string
  leaseDurationSeconds?: number
  acquireTime?: string
  renewTime?: string
  leaseTransitions?: number
}

/** One leader among several, by a Lease that it renews. */
export class Election {
  readonly #client: KubeClient
  readonly #options: Required<Omit<ElectionOptions, 'troubled'>> & Pick<ElectionOptions, 'troubled'>
  /** The lease as last seen, and since when it is like that by our own clock: those of others may be wrong. */
  #seen: { version: string | undefined; at: number } = { version: undefined, at: 0 }

  constructor(client: KubeClient, options: ElectionOptions) {
    this.#client = client
    this.#options = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000, ...options }
  }

  /** Leads whenever it can until the signal is raised. The leader's own signal is raised when it leads no more. */
  async run(signal: AbortSignal, lead: (leading: AbortSignal) => void): Promise<void> {
    while (!signal.aborted) {
      if (!(await this.#try())) {
        await this.#pause(signal)
        continue
      }
      const leading = new AbortController()
      lead(leading.signal)
      await this.#renew(signal)
      leading.abort()
    }
    await this.#release()
  }

  async #renew(signal: AbortSignal): Promise<void> {
    let renewedAt = performance.now()
    while (performance.now() - renewedAt < this.#options.renewMs) {
      await this.#pause(signal)
      if (signal.aborted) return
      const startedAt = performance.now()
      // An answer that is late says nothing about now: what counts is when it was asked.
      const left = this.#options.renewMs - (startedAt - renewedAt)
      if (await this.#try(Math.max(left, 1))) renewedAt = startedAt
    }
  }

  /** Takes or renews the lease; false when another has it, or when nobody knows. */
  async #try(limitMs = this.#options.renewMs): Promise<boolean> {
    const limit = AbortSignal.timeout(Math.ceil(limitMs))
    const late = new Promise<false>((resolve) => limit.addEventListener('abort', () => resolve(false), { once: true }))
    try {
      return await Promise.race([this.#take(), late])
    } catch (error) {
      // Another was faster.
      if (!isStatus(error, 409)) this.#options.troubled?.(error)
      return false
    }
  }

  async #take(): Promise<boolean> {
    const { namespace, name, identity } = this.#options
    const lease = await getObject(this.#client, LEASE, { namespace, name })
    if (lease === undefined) {
      await createObject(this.#client, LEASE, { metadata: { namespace, name }, spec: this.#spec({}) })
      return true
    }
    const spec = (lease.spec ?? {}) as LeaseSpec
    if (!this.#isOurs(lease, spec)) return false
    const metadata = { ...lease.metadata }
    await updateObject(this.#client, LEASE, { metadata, spec: this.#spec(spec, identity === spec.holderIdentity) })
    return true
  }

  /** Held by us, by nobody, or by one who has said nothing for too long. */
  #isOurs({ metadata: { resourceVersion } }: Resource, { holderIdentity, leaseDurationSeconds }: LeaseSpec): boolean {
    const now = performance.now()
    if (this.#seen.version !== resourceVersion) this.#seen = { version: resourceVersion, at: now }
    if (!holderIdentity || holderIdentity === this.#options.identity) return true
    return now - this.#seen.at > (leaseDurationSeconds ?? this.#options.leaseMs / 1000) * 1000
  }

  #spec(before: LeaseSpec, isRenewal = false): LeaseSpec {
    const now = microTime()
    const { acquireTime = now, leaseTransitions = 0 } = before
    return {
      holderIdentity: this.#options.identity,
      leaseDurationSeconds: Math.ceil(this.#options.leaseMs / 1000),
      acquireTime: isRenewal ? acquireTime : now,
      renewTime: now,
      leaseTransitions: isRenewal || before.holderIdentity === undefined ? leaseTransitions : leaseTransitions + 1,
    }
  }

  /** Lets the next one lead at once. */
  async #release(): Promise<void> {
    const { namespace, name, identity } = this.#options
    try {
      const lease = await getObject(this.#client, LEASE, { namespace, name })
      const spec = (lease?.spec ?? {}) as LeaseSpec
      if (lease === undefined || spec.holderIdentity !== identity) return
      const released = { ...spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime() }
      await updateObject(this.#client, LEASE, { metadata: lease.metadata, spec: released })
    } catch (error) {
      this.#options.troubled?.(error)
    }
  }

  async #pause(signal: AbortSignal): Promise<void> {
    await wait(this.#options.retryMs * (0.8 + Math.random() * 0.4), undefined, { signal }).catch(() => undefined)
  }
}

/** Six digits after the seconds are what the API server wants. */
function microTime(): string {
  return new Date().toISOString().replace('Z', '000Z')
}
