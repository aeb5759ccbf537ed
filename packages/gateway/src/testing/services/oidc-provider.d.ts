declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  /** As far as tests use it. */
  export class Provider {
    constructor(issuer: string, configuration: object)
    callback(): RequestListener
  }
}
