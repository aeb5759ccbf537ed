import { readFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import type { Connection, Credentials } from './connection.ts'
import { proxyFor } from './proxy.ts'

/** Where every Pod finds its own. */
const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount'
/** The kubelet writes a new token long before the old one ends. */
const STALE_AFTER_MS = 60_000

/** The connection of a Pod, by its service account; undefined outside of a cluster. */
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
        // What could not be read now may be there the next time.
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
