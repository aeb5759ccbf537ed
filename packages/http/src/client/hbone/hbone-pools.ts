import { X509Certificate } from 'node:crypto'
import { type ConnectionOptions, createSecureContext, type PeerCertificate } from 'node:tls'
import { emptySource } from '../../body/body.ts'
import { urisIn } from '../../exchange/client-certificate.ts'
import { HeaderBlock } from '../../fields/header-block.ts'
import type { Pool } from '../pool/pool.ts'
import type { Pools } from '../pool/pools.ts'
import { formatHostPort, parseHostPort } from '../host-port.ts'
import { type ConnectDone, UpstreamError } from '../upstream-types.ts'
import { HboneOpening } from './hbone-opening.ts'

/** The certificate of this workload, and the CAs of its mesh. */
export interface MeshCredentials {
  /** Differs for every certificate. */
  readonly version: number
  /** PEM texts; `cert` is the chain. */
  readonly cert: string
  readonly key: string
  readonly roots: string
}

/** The workload's identity in its mesh, as HBONE uses it. */
export interface MeshMember {
  /** Returns null while there is no valid certificate: no tunnel is opened then. */
  credentials(): MeshCredentials | null
  /** Returns why there is no certificate; null when there is one. */
  problem(): string | null
  /** Returns why a peer with these URIs in its certificate is rejected; null accepts the peer. */
  peerProblem(uris: readonly string[], expected: string | null): string | null
}

export interface HboneOptions {
  member: MeshMember
  pools: Pools
  connectTimeoutMs: number
  idleTimeoutMs: number
  /** The port of HBONE on every workload. */
  port?: number
}

/** A stream that is asked for. */
interface WantedStream {
  /** `host:port` of the workload's own port. */
  target: string
  /** The HBONE port of the workload. */
  port: number
  identity: string | null
  hops: string
}

/**
 * Opens tunnels to workloads of a mesh: HTTP/2 CONNECT over mutual TLS. The streams to one workload share connections,
 * which pools keep as they do for backends. A new certificate retires the pools of the previous certificate: their
 * streams end in their own time, and new streams use new connections.
 */
export class HbonePools {
  readonly #options: HboneOptions
  #current: { version: number; tls: ConnectionOptions } | null = null

  constructor(options: HboneOptions) {
    this.#options = options
  }

  /** Returns a function that cancels. */
  open({ target, port, identity, hops }: WantedStream, done: ConnectDone): () => void {
    const { host } = parseHostPort(target)
    const pool = this.#pool(host, port, identity)
    if (pool instanceof UpstreamError) {
      let isCanceled = false
      queueMicrotask(() => {
        if (!isCanceled) done(pool)
      })
      return () => (isCanceled = true)
    }
    const opening = new HboneOpening(formatHostPort(host, port), done)
    const request = {
      method: 'CONNECT',
      target,
      authority: target,
      headers: new HeaderBlock(),
      body: emptySource,
      upgrade: '',
      opensTunnel: true,
      teTrailers: false,
    }
    return opening.start((handler) => pool.request(request, handler, { hops, connectingTo() {} }))
  }

  #pool(host: string, port: number, identity: string | null): Pool | UpstreamError {
    const { member, pools, connectTimeoutMs, idleTimeoutMs } = this.#options
    const credentials = member.credentials()
    if (credentials === null) {
      this.#retire()
      const reason = member.problem() ?? 'no mesh certificate'
      return new UpstreamError('tls_failed', `tunnel through HBONE: ${reason}`, true)
    }
    if (this.#current?.version !== credentials.version) {
      this.#retire()
      this.#current = { version: credentials.version, tls: tlsOptions(credentials) }
    }
    const { tls } = this.#current
    const key = PREFIX + JSON.stringify([host, port, identity])
    return pools.get(key, () => ({
      address: { host, port },
      tunnel: null,
      tls: { ...tls, checkServerIdentity: (_host, certificate) => this.#judge(certificate, identity) },
      connectTimeoutMs,
      keepalive: null,
      version: 'HTTP2',
      idleTimeoutMs,
      maxIdle: 1,
      isHbone: true,
    }))
  }

  certificateChanged(): void {
    if (this.#options.member.credentials()?.version !== this.#current?.version) this.#retire()
  }

  #retire(): void {
    if (this.#current === null) return
    this.#current = null
    this.#options.pools.retire(PREFIX)
  }

  #judge(certificate: PeerCertificate, expected: string | null): Error | undefined {
    const problem = this.#options.member.peerProblem(urisIn(new X509Certificate(certificate.raw)), expected)
    return problem === null ? undefined : new Error(problem)
  }
}

function tlsOptions({ cert, key, roots }: MeshCredentials): ConnectionOptions {
  return {
    secureContext: createSecureContext({ cert, key, ca: roots, minVersion: 'TLSv1.2' }),
    servername: '',
    ALPNProtocols: ['h2'],
    rejectUnauthorized: true,
  }
}

const PREFIX = 'hbone '
