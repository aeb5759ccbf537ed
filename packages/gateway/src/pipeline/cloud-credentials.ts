/**
 * The credentials of the gateway for clouds, as policies use them; `credentials/` implements them. A credential is obtained
 * when the first request needs it.
 */
export interface CloudCredentials {
  awsSigner(config: AwsSignerConfig): AwsSigner
  azureToken(config: AzureTokenConfig): TokenSource
  gcpToken(config: GcpTokenConfig): TokenSource
  /** The AWS region of the environment, used when neither the config nor the host names one; null when it is not set. */
  readonly awsRegion: string | null
}

/** The reason why a credential is not available. Clients and logs get it, so it never contains a part of a credential. */
export class CredentialFault {
  readonly reason: string

  constructor(reason: string) {
    this.reason = reason
  }
}

/** The source of a token for `Authorization: Bearer`; a promise while the token is fetched. */
export interface TokenSource {
  current(watch?: CredentialWatch | null): string | CredentialFault | Promise<string | CredentialFault>
}

/** Observes the fetch of a credential for a request; the returned function gets the reason of a failure, or null. */
export interface CredentialWatch {
  obtaining(cloud: Cloud): (reason: string | null) => void
}

export type Cloud = 'aws' | 'azure' | 'gcp'

export interface SigningScope {
  region: string
  /** The service name in signatures, such as `bedrock`; the name in hosts may differ. */
  service: string
}

export interface AwsSignerConfig extends SigningScope {
  /** If unset, the default credential chain of the AWS SDK is used. */
  keys?: { accessKey: string; secretKey: string; sessionToken?: string | undefined } | undefined
}

/** Returns the signature headers, which replace headers of the same names. */
export type AwsSigner = (
  request: SignableRequest,
  watch?: CredentialWatch | null,
) => SignatureHeaders | CredentialFault | Promise<SignatureHeaders | CredentialFault>

/** The parts of an outgoing request that are signed. */
export interface SignableRequest {
  method: string
  /** Path and query. */
  target: string
  /** The Host header. */
  authority: string
  /** The headers to sign, in order; others may be missing. */
  headers: readonly (readonly [name: string, value: string])[]
  body: Buffer
  /** The text in place of the body hash, for bodies with checksums of their own. */
  unsignedAs?: string
}

/** Headers to set on the request; the names are in lower case. */
export type SignatureHeaders = readonly (readonly [name: string, value: string])[]

export interface AzureTokenConfig {
  /** `https://cognitiveservices.azure.com/.default` */
  scope: string
  /** If neither field is set, the environment names the identity. */
  clientSecret?: ClientSecret | undefined
  managedIdentity?: ManagedIdentity | undefined
}

export interface ClientSecret {
  clientID: string
  tenantID: string
  clientSecret: string
}

/** A user-assigned managed identity; the first field that is not empty selects it. */
export interface ManagedIdentity {
  clientId: string
  objectId: string
  resourceId: string
}

export interface GcpTokenConfig {
  /** A credentials file of Google, as JSON; if unset, the environment or the metadata server names the identity. */
  credentials?: string | undefined
  /** The audience of an ID token; if unset, an access token is fetched. */
  audience?: string | undefined
}
