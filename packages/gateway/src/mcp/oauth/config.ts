export type IdentityProvider = 'Auth0' | 'Keycloak'

/** The authorization that clients discover. */
export interface OauthConfig {
  /** The trusted issuers; the metadata of the authorization server is fetched from the first one. */
  issuers: readonly { issuer: string; audiences?: readonly string[] | undefined }[]
  /** The identity provider whose metadata the gateway adapts and serves itself. */
  provider?: IdentityProvider | undefined
  /** Members of the protected-resource metadata, as the config spells them. */
  resourceMetadata: Readonly<Record<string, unknown>>
}
