import type { BindState, ServerTls } from '@portico/http/server'
import { createServerTls } from '@portico/http/tls-listener'
import { urisIn } from '@portico/http/server'
import type { Hops } from '@portico/http'
import type { MeshIdentity } from '../mesh/identity.ts'
import { peerProblem } from '../mesh/mesh-member.ts'
import type { CompiledListener } from '../pipeline/compiled/compiled.ts'
import { serveTunnel, type StreamPort, type TunnelRefused } from '../pipeline/run/serve-tunnel.ts'

interface HboneServices {
  mesh: MeshIdentity
  hops: Hops
  streamPort: (port: number) => StreamPort | null
}

/**
 * The entrance of an HBONE port. TLS has the newest certificate of the mesh, and requires a certificate of an accepted
 * trust domain from clients. Open connections keep the certificate that they began with.
 */
export function hboneEntrance(
  [listener]: readonly CompiledListener[],
  services: HboneServices,
  refused: TunnelRefused,
): Pick<BindState<string>, 'chooseTls' | 'onExchange'> {
  const { mesh } = services
  const key = listener?.key ?? ''
  let known: { version: number; tls: ServerTls } | null = null
  const currentTls = (): ServerTls => {
    const current = mesh.current()
    if (current === null) return withoutCertificate(mesh.problem() ?? 'no mesh certificate')
    if (known?.version === current.version) return known.tls
    const { chain, key: privateKey, roots, version } = current
    const made = createServerTls({ cert: chain, key: privateKey, root: roots }, { alpnProtocols: ['h2'] })
    if ('problem' in made) return withoutCertificate(made.problem.message)
    known = { version, tls: forPeers(made.tls, mesh) }
    return known.tls
  }
  return {
    chooseTls: () => ({ tls: currentTls(), listener: key }),
    onExchange: (exchange) => serveTunnel(exchange, services, refused),
  }
}

function withoutCertificate(reason: string): ServerTls {
  return { key: '', handshake: (_socket, done) => done({ reason, cause: 'other' }) }
}

/** Rejects peers that are not in the mesh after their certificate was verified. */
function forPeers({ key, handshake }: ServerTls, mesh: MeshIdentity): ServerTls {
  return {
    key,
    handshake(socket, done) {
      handshake(socket, (outcome) => {
        if ('reason' in outcome) return done(outcome)
        const { socket: secure } = outcome
        const certificate = secure.authorized ? secure.getPeerX509Certificate() : undefined
        const problem =
          secure.alpnProtocol === 'h2'
            ? peerProblem(mesh, certificate === undefined ? [] : urisIn(certificate), null)
            : 'the peer did not negotiate HTTP/2'
        if (problem === null) return done(outcome)
        secure.on('error', () => {})
        // Closing within the handshake's own callback crashes the process.
        setImmediate(() => {
          done({ reason: `client certificate: ${problem}`, cause: 'client_certificate' })
          secure.destroy()
        })
      })
    },
  }
}
