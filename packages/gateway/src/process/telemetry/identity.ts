import { hostname } from 'node:os'
import type { ProxyIdentity } from '../../pipeline/context/proxy-identity.ts'

/** The service account of this proxy in its mesh. */
export function serviceAccountOf(env: NodeJS.ProcessEnv): string {
  return env['SERVICE_ACCOUNT'] || 'default'
}

/**
 * The identity of this proxy, from variables that the platform sets. A standalone proxy is the gateway `default/default`, or
 * the Gateway of its manifests (`namespace/name`).
 */
export function identityOf(env: NodeJS.ProcessEnv, ofManifests = 'default/default'): ProxyIdentity {
  const [namespace = '', gateway = ''] = ofManifests.split('/')
  return {
    podName: env['POD_NAME'] || hostname(),
    namespace: env['NAMESPACE'] || namespace,
    gateway: env['GATEWAY'] || gateway,
  }
}
