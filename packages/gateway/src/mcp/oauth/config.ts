export type IdentityProvider = 'Auth0' | 'Keycloak'

/** What clients are told about authorization. */
export interface OauthConfig {
  /** The first one is asked for the metadata of the authorization server. */
  issuers: readonly { issuer: string; audiences?: readonly string[] | undefined }[]
  /** Whose metadata is adapted; clients then come to the gateway for it. */
  provider?: IdentityProvider | undefined
  /** Members of the protected-resource metadata, as the config spells them. */
  resourceMetadata: Readonly<Record<string, unknown>>
}
