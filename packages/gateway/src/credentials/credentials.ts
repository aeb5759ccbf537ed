import type { CloudCredentials } from '../pipeline/cloud-credentials.ts'
import { later } from '../pipeline/compiled/later.ts'
import type { CredentialServices } from './services.ts'

const clouds = () => import('./clouds.ts')

// Only backends with an `auth` policy need the code for cloud credentials, so it is loaded lazily.
export const awsSigner = later(async () => (await clouds()).createAwsSigner)
export const azureToken = later(async () => (await clouds()).createAzureToken)
export const gcpToken = later(async () => (await clouds()).createGcpToken)

export function createCredentials(services: CredentialServices): CloudCredentials {
  const { AWS_REGION, AWS_DEFAULT_REGION } = services.environment
  return {
    awsSigner: (config) => awsSigner(config, services),
    azureToken: (config) => azureToken(config, services),
    gcpToken: (config) => gcpToken(config, services),
    awsRegion: AWS_REGION || AWS_DEFAULT_REGION || null,
  }
}
