import { hostname } from 'node:os'
import type { ProxyIdentity } from '../pipeline/trace.ts'

/** Who this proxy is, as the platform that started it says; a standalone one is the gateway `default` of its file. */
export function identityOf(env: NodeJS.ProcessEnv): ProxyIdentity {
  return {
    podName: env['POD_NAME'] || hostname(),
    namespace: env['NAMESPACE'] || 'default',
    gateway: env['GATEWAY'] || 'default',
  }
}
