import { type AwsSigner, type AwsSignerConfig, createAwsSigner } from './aws/signer.ts'
import { type AzureTokenConfig, createAzureToken } from './azure/token.ts'
import { createGcpToken, type GcpTokenConfig } from './gcp/token.ts'
import type { CredentialServices } from './services.ts'
import type { TokenSource } from './token.ts'

/** What the clouds want to be shown. Nothing is asked for before the first request needs it. */
export interface Credentials {
  awsSigner(config: AwsSignerConfig): AwsSigner
  azureToken(config: AzureTokenConfig): TokenSource
  gcpToken(config: GcpTokenConfig): TokenSource
  /** Where AWS is when neither the config nor the host says it; null when nobody does. */
  readonly awsRegion: string | null
}

export function createCredentials(services: CredentialServices): Credentials {
  const { AWS_REGION, AWS_DEFAULT_REGION } = services.environment
  return {
    awsSigner: (config) => createAwsSigner(config, services),
    azureToken: (config) => createAzureToken(config, services),
    gcpToken: (config) => createGcpToken(config, services),
    awsRegion: AWS_REGION || AWS_DEFAULT_REGION || null,
  }
}
