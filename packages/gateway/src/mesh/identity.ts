/** The certificate of this gateway in the mesh, and the roots for its peers. */
export interface MeshCertificate {
  /** Private key, as PEM. */
  readonly key: string
  /** The certificate of the gateway and its intermediates, as PEM. */
  readonly chain: string
  /** Root certificates that peers are verified with, as PEM. */
  readonly roots: string
  /** Expiry of the certificate, in milliseconds since 1970. */
  readonly notAfter: number
  /** Grows with every new certificate or root, so that TLS contexts can be cached by version. */
  readonly version: number
}

/**
 * The identity of this gateway in the mesh, as listeners and backends use it. Connections of the mesh must fail while
 * there is no certificate; they never fall back to plain text.
 */
export interface MeshIdentity {
  /** Returns null before the first certificate and after the expiry of the last one; `problem` returns the reason. */
  current(): MeshCertificate | null
  /** Returns why there is no certificate, such as "the mesh CA has not issued a certificate yet"; null if there is one. */
  problem(): string | null
  /** Calls the listener after each new certificate or root, and at an expiry; returns a function that removes the listener. */
  onChange(listener: () => void): () => void
  readonly trustDomain: string
  /** Trust domains of peers that are accepted; contains `trustDomain`. */
  readonly acceptedTrustDomains: ReadonlySet<string>
}

/** Timers of the runtime hold 31 bits of milliseconds. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1
