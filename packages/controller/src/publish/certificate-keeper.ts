import { setTimeout as wait } from 'node:timers/promises'
import type { ApiKind } from '../kube/kinds.ts'
import type { KubeClient } from '../kube/kube-client.ts'
import { isStatus, KubeError } from '../kube/kube-error.ts'
import { createObject, getObject, updateObject } from '../kube/objects.ts'
import {
  type Authorities,
  bundleOf,
  LIFETIMES,
  type Lifetimes,
  readAuthorities,
  settleAuthorities,
  settleServing,
  writeAuthorities,
} from './authorities.ts'
import type { Identity, KeyPair } from './certificate.ts'

const SECRET: ApiKind = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true }

interface CertificateKeeperOptions {
  /** The namespace of the Secret with the authorities. */
  namespace: string
  secret: string
  /** Host names and addresses at which data planes reach the controller. */
  names: readonly string[]
  /** Called when the bundle or the serving certificate changes. */
  changed?: () => void
  /** Called after an error, which is retried. */
  onError?: (problem: string) => void
  now?: () => number
  lifetimes?: Lifetimes
  /** The intervals at which the Secret is read, in milliseconds: with and without a serving certificate. */
  pollMs?: number
  missingMs?: number
}

/**
 * Manages the CA bundle and the serving certificate. The authorities are in a Secret that the leader creates and renews;
 * every replica reads it and issues its own serving certificate, whose key stays in memory.
 */
export class CertificateKeeper {
  readonly #client: KubeClient
  readonly #options: Required<Omit<CertificateKeeperOptions, 'changed' | 'onError'>> &
    Pick<CertificateKeeperOptions, 'changed' | 'onError'>
  #authorities: Authorities | undefined
  #serving: KeyPair | undefined
  #leading: AbortSignal | undefined
  #wake = new AbortController()

  constructor(client: KubeClient, options: CertificateKeeperOptions) {
    this.#client = client
    this.#options = { now: Date.now, lifetimes: LIFETIMES, pollMs: 60_000, missingMs: 1_000, ...options }
  }

  /** The CA bundle for data planes. */
  get bundle(): string | undefined {
    return this.#authorities && bundleOf(this.#authorities)
  }

  get serving(): KeyPair | undefined {
    return this.#serving
  }

  /** The certificate for data planes and other controllers, and the CA bundle for verifying other controllers. */
  get identity(): Identity | undefined {
    const { bundle: ca } = this
    return ca === undefined || this.#serving === undefined ? undefined : { ...this.#serving, ca }
  }

  /** Creates and renews authorities until the signal aborts. */
  lead(leading: AbortSignal): void {
    this.#leading = leading
    this.#wake.abort()
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#wake = new AbortController()
      const woken = AbortSignal.any([signal, this.#wake.signal])
      await this.refresh()
      const { pollMs, missingMs } = this.#options
      const ms = (this.#serving === undefined ? missingMs : pollMs) * (0.8 + Math.random() * 0.4)
      await wait(ms, undefined, { signal: woken }).catch(() => undefined)
    }
  }

  /** Reads the Secret once, and makes the changes that are due. */
  async refresh(): Promise<void> {
    const [bundle, serving] = [this.bundle, this.#serving]
    try {
      await this.#look().catch((error: unknown) => {
        // Another replica was faster, so its authorities are used.
        if (isStatus(error, 409)) return this.#look()
        throw error
      })
    } catch (error) {
      this.#reportError(error)
    }
    // The renewal of the serving certificate does not need the API server.
    if (this.#authorities !== undefined) this.#serving = this.#settleServing(this.#authorities)
    if (this.bundle !== bundle || this.#serving !== serving) this.#options.changed?.()
  }

  async #look(): Promise<void> {
    const { namespace, secret: name } = this.#options
    const secret = await getObject(this.#client, SECRET, { namespace, name })
    if (secret === undefined) {
      if (!this.#isLeading()) return
      const made = this.#settle(undefined)
      const data = writeAuthorities(made)
      await createObject(this.#client, SECRET, { metadata: { namespace, name }, type: 'Opaque', data })
      this.#authorities = made
      return
    }
    const data = (secret.data ?? {}) as Record<string, unknown>
    // An empty Secret is filled.
    const read = Object.keys(data).length === 0 ? NOTHING : readAuthorities(data)
    // A damaged Secret is not replaced: an operator may repair it, or delete it to get a new one.
    if (!read.ok) return this.#reportError(read.problem)
    const wanted = this.#isLeading() ? this.#settle(read.authorities) : read.authorities
    if (wanted === undefined) return
    if (wanted !== read.authorities)
      await updateObject(this.#client, SECRET, { ...secret, data: writeAuthorities(wanted) })
    this.#authorities = wanted
  }

  #settle(known: Authorities | undefined): Authorities {
    return settleAuthorities(known, this.#options.now(), this.#options.lifetimes)
  }

  #settleServing(authorities: Authorities): KeyPair {
    const { names, now, lifetimes } = this.#options
    return settleServing(this.#serving, authorities, { names, now: now(), lifetimes })
  }

  #isLeading(): boolean {
    return this.#leading !== undefined && !this.#leading.aborted
  }

  #reportError(error: unknown): void {
    const { namespace, secret } = this.#options
    const why = error instanceof Error ? error.message : String(error)
    this.#options.onError?.(error instanceof KubeError ? why : `Secret ${namespace}/${secret}: ${why}`)
  }
}

const NOTHING = { ok: true, authorities: undefined } as const
