/** `Request` admits clients without a certificate; both modes refuse a certificate that no trusted CA signed. */
export type ClientCertificates = 'Require' | 'Request'

/** PEM texts, not paths: a changed certificate file is a changed IR. */
export interface ListenerTls {
  cert: string
  key: string
  /** Client certificates are required and verified against these when set. */
  root: string | null
  /** Shown to clients that ask for one of their names; `cert` is shown to all others. */
  others?: Certificate[]
  /** Whether clients must or may present a certificate; the `tls` policy decides if omitted. */
  clientCertificates?: ClientCertificates
  /** Clients without a certificate, or with one that nobody vouches for, are let in as well. */
  clientsMayLack?: true
}

export interface Certificate {
  cert: string
  key: string
}
