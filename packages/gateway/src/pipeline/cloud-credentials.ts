/**
 * What the gateway shows to clouds, as policies know it. Who gets it, and how, stands in `credentials/`. Nothing is asked
 * for before the first request needs it.
 */
export interface CloudCredentials {
  awsSigner(config: AwsSignerConfig): AwsSigner
  azureToken(config: AzureTokenConfig): TokenSource
  gcpToken(config: GcpTokenConfig): TokenSource
  /** Where AWS is when neither the config nor the host says it; null when nobody does. */
  readonly awsRegion: string | null
}

/** Why a credential cannot be had. Clients and logs read it, so it never holds a part of one. */
export class CredentialFault {
  readonly reason: string

  constructor(reason: string) {
    this.reason = reason
  }
}

/** A token for `Authorization: Bearer`, now or soon. */
export interface TokenSource {
  current(watch?: CredentialWatch | null): string | CredentialFault | Promise<string | CredentialFault>
}

/** Told when a credential is asked for because of a request; what is returned is told why there is none, or null. */
export interface CredentialWatch {
  obtaining(cloud: Cloud): (reason: string | null) => void
}

export type Cloud = 'aws' | 'azure' | 'gcp'

export interface SigningScope {
  region: string
  /** `bedrock`: the name in signatures, which need not be the one in hosts. */
  service: string
}

export interface AwsSignerConfig extends SigningScope {
  /** Left out, they are looked for where the SDK does. */
  keys?: { accessKey: string; secretKey: string; sessionToken?: string | undefined } | undefined
}

/** Headers to set on the request, in place of what it has under these names. */
export type AwsSigner = (
  request: SignableRequest,
  watch?: CredentialWatch | null,
) => SignatureHeaders | CredentialFault | Promise<SignatureHeaders | CredentialFault>

/** A request as it goes over the wire. */
export interface SignableRequest {
  method: string
  /** Path and query. */
  target: string
  /** What Host says. */
  authority: string
  /** Those that are not signed may be left out; several of one name count in their order. */
  headers: readonly (readonly [name: string, value: string])[]
  body: Buffer
  /** What is said in place of the hash of a body that brings checksums of its own. */
  unsignedAs?: string
}

/** Headers to set on the request; the names are in lower case. */
export type SignatureHeaders = readonly (readonly [name: string, value: string])[]

export interface AzureTokenConfig {
  /** `https://cognitiveservices.azure.com/.default` */
  scope: string
  /** Left out both, the environment says who this is. */
  clientSecret?: ClientSecret | undefined
  managedIdentity?: ManagedIdentity | undefined
}

export interface ClientSecret {
  clientID: string
  tenantID: string
  clientSecret: string
}

/** One that a user assigned to the machine; the first that is not empty says which. */
export interface ManagedIdentity {
  clientId: string
  objectId: string
  resourceId: string
}

export interface GcpTokenConfig {
  /** JSON as Google gives it out; left out, the environment or the machine says who this is. */
  credentials?: string | undefined
  /** For whom an ID token is; left out, it is an access token. */
  audience?: string | undefined
}
