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

export interface CertificateKeeperOptions {
  /** Where the Secret of the authorities is. */
  namespace: string
  secret: string
  /** Host names and addresses by which data planes reach the controller. */
  names: readonly string[]
  /** The bundle or the serving certificate is another one. */
  changed?: () => void
  /** Something went wrong and is tried again. */
  troubled?: (problem: string) => void
  now?: () => number
  lifetimes?: Lifetimes
  /** How often the Secret is looked at, when there is one and while there is none. */
  pollMs?: number
  missingMs?: number
}

/**
 * What data planes trust and what they are shown. The authorities are in a Secret, which the leader makes and renews; every
 * replica reads it and makes a serving certificate for itself, which never leaves its memory.
 */
export class CertificateKeeper {
  readonly #client: KubeClient
  readonly #options: Required<Omit<CertificateKeeperOptions, 'changed' | 'troubled'>> &
    Pick<CertificateKeeperOptions, 'changed' | 'troubled'>
  #authorities: Authorities | undefined
  #serving: KeyPair | undefined
  #leading: AbortSignal | undefined
  #wake = new AbortController()

  constructor(client: KubeClient, options: CertificateKeeperOptions) {
    this.#client = client
    this.#options = { now: Date.now, lifetimes: LIFETIMES, pollMs: 60_000, missingMs: 1_000, ...options }
  }

  /** Certificates of the authorities that data planes have to know. */
  get bundle(): string | undefined {
    return this.#authorities && bundleOf(this.#authorities)
  }

  get serving(): KeyPair | undefined {
    return this.#serving
  }

  /** What it shows to data planes and other controllers, and whom of those it knows. */
  get identity(): Identity | undefined {
    const { bundle: ca } = this
    return ca === undefined || this.#serving === undefined ? undefined : { ...this.#serving, ca }
  }

  /** Makes and renews authorities until the signal is raised. */
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

  /** Looks at the Secret once, and does what is due. */
  async refresh(): Promise<void> {
    const [bundle, serving] = [this.bundle, this.#serving]
    try {
      await this.#look().catch((error: unknown) => {
        // Another replica was faster: its authorities hold.
        if (isStatus(error, 409)) return this.#look()
        throw error
      })
    } catch (error) {
      this.#trouble(error)
    }
    // Its end does not wait for the API server.
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
    // One that was put there empty is to be filled.
    const read = Object.keys(data).length === 0 ? NOTHING : readAuthorities(data)
    // Not replaced: somebody who damaged it may still mend it, or delete it to have a new one.
    if (!read.ok) return this.#trouble(read.problem)
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

  #trouble(error: unknown): void {
    const { namespace, secret } = this.#options
    const why = error instanceof Error ? error.message : String(error)
    this.#options.troubled?.(error instanceof KubeError ? why : `Secret ${namespace}/${secret}: ${why}`)
  }
}

const NOTHING = { ok: true, authorities: undefined } as const
