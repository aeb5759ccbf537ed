import { Deadlines, Hops } from '@portico/http'
import { createResolver, defaultSettings, Destination, Endpoints, Pools } from '@portico/http/client'
import { callUnary, type GrpcError } from '@portico/http/grpc'
import { CREATE_CERTIFICATE } from './certificate-service.ts'

interface CaCall {
  /** Host and port of the CA. */
  host: string
  port: number
  /** CA certificates that the server is verified with, as PEM. */
  roots: string
  /** Bearer token of the service account. */
  token: string
  clusterId: string
  csr: string
  validitySeconds: number
}

/** Asks the CA for a certificate, over a connection of its own. Returns the chain as PEM texts, or the reason. */
export async function callCa(call: CaCall): Promise<{ chain: string[] } | { problem: string }> {
  const { host, port, roots: caCertificateRefs, token, clusterId, csr, validitySeconds } = call
  const deadlines = new Deadlines()
  const resolver = createResolver({ family: 'Auto' })
  const pools = new Pools(deadlines, new Hops('mesh-ca'))
  try {
    const destination = new Destination({
      backend: { key: 'mesh-ca', name: 'mesh-ca' },
      address: { host, port },
      settings: { ...defaultSettings(CONNECTION), tls: { caCertificateRefs } },
      guard: null,
      resolver,
      pools,
      endpoints: new Endpoints(),
    })
    return await new Promise((resolve) => {
      callUnary(
        CREATE_CERTIFICATE,
        { csr, validitySeconds },
        {
          send: (request, handler) => destination.send(request, 'HTTP2', { hops: '', connectingTo() {} }, handler),
          authority: `${host}:${port}`,
          metadata: [
            ['authorization', `Bearer ${token}`],
            ['clusterid', clusterId],
          ],
          deadlines,
          timeoutMs: TIMEOUT_MS,
          maxMessageBytes: MAX_RESPONSE_BYTES,
        },
        (error, chain) => resolve(error === null ? { chain: chain ?? [] } : { problem: describe(error, token) }),
      )
    })
  } catch (error) {
    return { problem: printable(error instanceof Error ? error.message : String(error), token) }
  } finally {
    pools.close()
    resolver.close()
    deadlines.close()
  }
}

function describe({ code, message }: GrpcError, token: string): string {
  const text = printable(message, token)
  if (code === UNAUTHENTICATED || code === PERMISSION_DENIED) return `the mesh CA rejected the token (${text})`
  if (/CERT|VERIFY|ALTNAME/.test(message)) return `the root file does not verify the mesh CA (${text})`
  if (code === UNAVAILABLE) return `the mesh CA cannot be reached (${text})`
  return `the mesh CA answered with gRPC status ${code} (${text})`
}

/**
 * The CA writes the message, so its length and characters are limited. The message may repeat the token or a part of a
 * token, which must not reach the log.
 */
function printable(message: string, token: string): string {
  return message
    .replaceAll(token, REDACTED)
    .replaceAll(JWT_PART, REDACTED)
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .slice(0, 200)
}

const REDACTED = '[redacted]'
/** `eyJ` is `{"` in base64, with which the head and the claims of a JWT begin. */
const JWT_PART = /eyJ[\w-]*(\.[\w-]*)*/g

const PERMISSION_DENIED = 7
const UNAVAILABLE = 14
const UNAUTHENTICATED = 16
const TIMEOUT_MS = 10_000
const MAX_RESPONSE_BYTES = 1024 * 1024
const CONNECTION = { connectTimeoutMs: 5_000, poolIdleTimeoutMs: 1_000, poolMaxIdle: 1 }
