import { LONGEST_TIMER_MS, type MeshCertificate, type MeshIdentity } from './identity.ts'

/** Trust domains of the config. */
export interface MeshTrust {
  readonly trustDomain: string
  readonly additionalTrustDomains: readonly string[]
}

/** The state that the main thread sends to workers. */
export interface MeshState {
  readonly certificate: MeshCertificate | null
  /** Why the last request for a certificate failed; null after a success. It may name files, so clients never see it. */
  readonly failure: string | null
}

/** The identity on a worker, which the main thread obtains and renews. */
export class ReceivedIdentity implements MeshIdentity {
  readonly trustDomain: string
  readonly acceptedTrustDomains: ReadonlySet<string>
  readonly #clock: () => number
  readonly #listeners = new Set<() => void>()
  readonly #isConfigured: boolean
  #state: MeshState = { certificate: null, failure: null }
  #expiry: NodeJS.Timeout | undefined

  /** `trust` is null for a gateway that has no identity; `clock` returns milliseconds since 1970. */
  constructor(trust: MeshTrust | null, clock: () => number) {
    const { trustDomain, additionalTrustDomains } = trust ?? { trustDomain: '', additionalTrustDomains: [] }
    this.#isConfigured = trust !== null
    this.trustDomain = trustDomain
    this.acceptedTrustDomains = new Set([trustDomain, ...additionalTrustDomains])
    this.#clock = clock
  }

  take(state: MeshState): void {
    const before = this.#state.certificate?.version
    this.#state = state
    if (state.certificate?.version === before) return
    this.#awaitExpiry()
    this.#announce()
  }

  current(): MeshCertificate | null {
    const { certificate } = this.#state
    return certificate !== null && this.#clock() < certificate.notAfter ? certificate : null
  }

  /** Responses to clients contain this text. The log of the main thread has the cause. */
  problem(): string | null {
    if (this.current() !== null) return null
    if (!this.#isConfigured) return 'the gateway has no mesh identity, `config.mesh` is not set'
    const { certificate } = this.#state
    if (certificate === null) return 'no mesh certificate yet'
    return `the mesh certificate expired at ${new Date(certificate.notAfter).toISOString()}`
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #announce(): void {
    for (const listener of this.#listeners) listener()
  }

  /** Without a renewal nothing else would end the use of connections that the certificate opened. */
  #awaitExpiry(): void {
    clearTimeout(this.#expiry)
    const certificate = this.current()
    if (certificate === null) return
    const restMs = Math.min(Math.ceil(certificate.notAfter - this.#clock()), LONGEST_TIMER_MS)
    this.#expiry = setTimeout(() => (this.current() === null ? this.#announce() : this.#awaitExpiry()), restMs)
    this.#expiry.unref()
  }
}
