import { hostname } from 'node:os'
import type { ProxyIdentity } from '../../pipeline/context/proxy-identity.ts'

/**
 * Who this proxy is, as the platform that started it says; a standalone one is the gateway `default` of its file, or that of
 * its manifests (`namespace/name`).
 */
export function identityOf(env: NodeJS.ProcessEnv, ofManifests = 'default/default'): ProxyIdentity {
  const [namespace = '', gateway = ''] = ofManifests.split('/')
  return {
    podName: env['POD_NAME'] || hostname(),
    namespace: env['NAMESPACE'] || namespace,
    gateway: env['GATEWAY'] || gateway,
  }
}
