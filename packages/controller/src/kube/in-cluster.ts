import { readFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import type { Connection, Credentials } from './connection.ts'
import { proxyFor } from './proxy.ts'

/** The folder of the service account in every Pod. */
const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount'
/** How long a token is cached; the kubelet rotates the file long before the old token expires. */
const STALE_AFTER_MS = 60_000

/** The connection with the service account of the Pod; undefined outside a cluster. */
export function inClusterConnection(
  env: Readonly<Record<string, string | undefined>>,
  folder = FOLDER,
): Connection | undefined {
  const [host, port] = [env['KUBERNETES_SERVICE_HOST'], env['KUBERNETES_SERVICE_PORT']]
  if (!host || !port) return undefined
  let known: { credentials: Promise<Credentials>; readAt: number } | undefined
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`
  return {
    server,
    proxy: proxyFor(server, undefined, env),
    credentials(fresh) {
      const now = performance.now()
      if (known === undefined || fresh || now - known.readAt > STALE_AFTER_MS) {
        known = { credentials: read(folder), readAt: now }
        // A failed read is not cached.
        known.credentials.catch(() => (known = undefined))
      }
      return known.credentials
    },
  }
}

async function read(folder: string): Promise<Credentials> {
  const [ca, token] = await Promise.all(['ca.crt', 'token'].map((name) => readFile(join(folder, name), 'utf8')))
  return { ca, authorization: `Bearer ${token?.trim()}` }
}
