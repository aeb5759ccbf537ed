import { once } from 'node:events'
import { createSecureServer, type Http2Session, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { connect, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { ReceivedIdentity } from '../../mesh/received-identity.ts'
import { createAuthority, type IssuedCertificate, type TestAuthority } from '../certificates.ts'

/** A workload of a mesh, on the runtime's HTTP/2: each CONNECT leads to the port of its authority on this machine. */
interface HbonePeer {
  port: number
  /** `:authority` of each CONNECT. */
  authorities: string[]
  /** The SPIFFE ID of the client of each connection. */
  clients: string[]
  /** Connections that are open. */
  sessions: Set<Http2Session>
  /** Open streams. */
  streams: Set<ServerHttp2Stream>
  /** Closes every connection at once. */
  kill(): void
}

interface HbonePeerOptions {
  /** The certificate of the peer and the CA of its clients. */
  mesh: TestMesh
  identity?: string
  /** Called in place of opening a tunnel; returns true when it has handled the stream. */
  answer?: (stream: ServerHttp2Stream, authority: string) => boolean
  maxStreams?: number
}

/** A CA of a mesh, with the identity `spiffe://cluster.local/ns/test/sa/<name>` for each name. */
interface TestMesh {
  authority: TestAuthority
  issue(name: string, trustDomain?: string): IssuedCertificate
}

export function createTestMesh(): TestMesh {
  const authority = createAuthority('Mesh CA')
  return {
    authority,
    issue: (name, trustDomain = 'cluster.local') => authority.issue({ names: [spiffeOf(name, trustDomain)] }),
  }
}

/** An identity of the gateway, with a certificate of the mesh from the start; `renew` replaces the certificate. */
export function createTestIdentity(mesh: TestMesh): { identity: ReceivedIdentity; renew: () => void } {
  const identity = new ReceivedIdentity({ trustDomain: 'cluster.local', additionalTrustDomains: [] }, Date.now)
  let version = 0
  const renew = (): void => {
    const { cert, key } = mesh.issue(`gateway-${++version}`)
    const certificate = { key, chain: cert, roots: mesh.authority.cert, notAfter: Date.now() + 3_600_000, version }
    identity.take({ certificate, failure: null })
  }
  renew()
  return { identity, renew }
}

export function spiffeOf(name: string, trustDomain = 'cluster.local'): string {
  return `spiffe://${trustDomain}/ns/test/sa/${name}`
}

export async function useHbonePeer(t: TestContext, options: HbonePeerOptions): Promise<HbonePeer> {
  const { mesh, identity = spiffeOf('app'), answer, maxStreams } = options
  const sockets = new Set<Socket>()
  const keep = <S extends Socket>(socket: S): S => {
    sockets.add(socket)
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const server = createSecureServer({
    ...mesh.authority.issue({ names: [identity] }),
    ca: mesh.authority.cert,
    requestCert: true,
    rejectUnauthorized: true,
    ...(maxStreams !== undefined && { settings: { maxConcurrentStreams: maxStreams } }),
  })
  const peer: HbonePeer = {
    port: 0,
    authorities: [],
    clients: [],
    sessions: new Set(),
    streams: new Set(),
    kill() {
      for (const socket of sockets) socket.destroy()
    },
  }
  server.on('connection', keep)
  server.on('secureConnection', (socket) => {
    peer.clients.push(socket.getPeerX509Certificate()?.subjectAltName?.replace(/^URI:/, '') ?? '')
  })
  server.on('session', (session) => {
    peer.sessions.add(session)
    session.on('error', () => {})
    session.on('close', () => peer.sessions.delete(session))
  })
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    const authority = headers[':authority'] ?? ''
    peer.authorities.push(authority)
    peer.streams.add(stream)
    stream.on('error', () => {})
    stream.on('close', () => peer.streams.delete(stream))
    if (answer?.(stream, authority) === true) return
    if (headers[':method'] !== 'CONNECT') return stream.respond({ ':status': 405 }, { endStream: true })
    const backend = keep(connect(Number(authority.slice(authority.lastIndexOf(':') + 1)), '127.0.0.1'))
    backend.on('connect', () => {
      stream.respond({ ':status': 200 })
      stream.pipe(backend).pipe(stream)
    })
    backend.on('error', () => stream.close(10))
    stream.on('close', () => backend.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  peer.port = (server.address() as AddressInfo).port
  t.after(() => {
    peer.kill()
    server.close()
  })
  return peer
}
