import { createAwsSigner } from './aws/signer.ts'
import { createAzureToken } from './azure/token.ts'
import { createGcpToken } from './gcp/token.ts'
import type { CloudCredentials } from '../pipeline/cloud-credentials.ts'
import type { CredentialServices } from './services.ts'

export function createCredentials(services: CredentialServices): CloudCredentials {
  const { AWS_REGION, AWS_DEFAULT_REGION } = services.environment
  return {
    awsSigner: (config) => createAwsSigner(config, services),
    azureToken: (config) => createAzureToken(config, services),
    gcpToken: (config) => createGcpToken(config, services),
    awsRegion: AWS_REGION || AWS_DEFAULT_REGION || null,
  }
}
