/** A certificate and its private key, as PEM. */
export interface KeyPair {
  cert: string
  key: string
}

/** The certificate of a controller, and the CA bundle of all controllers. */
export interface Identity extends KeyPair {
  ca: string
}
