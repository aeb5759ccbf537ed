import type { TestContext } from 'node:test'
import type { CredentialServices } from '../../credentials/services.ts'
import { WorkerCache } from '../../state/worker-cache.ts'
import { type Origin, type OriginHandler, startOrigin } from '../origin.ts'

interface CredentialScene {
  services: CredentialServices
  /** Reasons that were logged. */
  warnings: string[]
  /** Lets that many milliseconds pass. */
  pass: (milliseconds: number) => void
}

/** Services whose time stands still until a test lets it pass. */
export function credentialServices(given: Partial<CredentialServices> = {}): CredentialScene {
  const start = Date.now()
  let passed = 0
  const warnings: string[] = []
  const silent = (): void => {}
  const services: CredentialServices = {
    clock: () => start + passed,
    monotonic: () => passed,
    random: () => 0,
    environment: {},
    fetch,
    kept: new WorkerCache(),
    log: {
      module: '',
      enabled: () => true,
      error: silent,
      warn: (message, fields) => warnings.push(`${message}: ${JSON.stringify(fields)}`),
      info: silent,
      debug: silent,
      trace: silent,
    },
    ...given,
  }
  return { services, warnings, pass: (milliseconds) => (passed += milliseconds) }
}

/** A token endpoint that goes away with the test. */
export async function useEndpoint(t: TestContext, handler: OriginHandler): Promise<Origin> {
  const endpoint = await startOrigin(handler)
  t.after(() => endpoint.close())
  return endpoint
}

/** The environment of the process, for libraries that read it: nothing of the machine that runs the test is in it. */
export function useProcessEnvironment(t: TestContext, variables: Record<string, string>): void {
  const before = process.env
  t.after(() => (process.env = before))
  process.env = {
    PATH: before['PATH'],
    HOME: '/nonexistent',
    AWS_CONFIG_FILE: '/nonexistent/config',
    AWS_SHARED_CREDENTIALS_FILE: '/nonexistent/credentials',
    AWS_EC2_METADATA_DISABLED: 'true',
    ...variables,
  }
}
