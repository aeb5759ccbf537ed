/** `Request` admits clients without a certificate; both modes refuse a certificate that no trusted CA signed. */
export type ClientCertificates = 'Require' | 'Request'

/** PEM texts, not paths: a changed certificate file changes the IR. */
export interface ListenerTls {
  cert: string
  key: string
  /** CA certificates for client certificates, which are required and verified when this is set. */
  root: string | null
  /** Presented to clients that ask for one of their names; all other clients get `cert`. */
  others?: Certificate[]
  /** Whether clients must or may present a certificate; the `tls` policy decides if omitted. */
  clientCertificates?: ClientCertificates
  /** Whether clients without a certificate, or with a certificate that no CA vouches for, are admitted too. */
  clientsMayLack?: true
}

export interface Certificate {
  cert: string
  key: string
}
