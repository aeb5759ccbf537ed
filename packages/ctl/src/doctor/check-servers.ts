import { type CalledServer, calledServers } from '@portico/gateway/doctor'
import { type DoctorFinding, type DoctorSubject, fine, notChecked } from './check.ts'
import { openConnection } from './connect.ts'
import { unreachable } from './connection-finding.ts'

/** Connects to the config's servers of the given kinds, and checks TCP, TLS and the HTTP version. */
export function checkServers(
  { config, timeoutMs, now }: DoctorSubject,
  kinds: readonly CalledServer['kind'][],
): Promise<DoctorFinding[]> {
  const servers = calledServers(config.ir).filter(({ kind }) => kinds.includes(kind))
  return Promise.all(servers.map((server) => checkServer(server, { timeoutMs, now: now() })))
}

async function checkServer(
  server: CalledServer,
  { timeoutMs, now }: { timeoutMs: number; now: number },
): Promise<DoctorFinding> {
  const { kind, name, host, port, path, version } = server
  const address = path ?? `${host}:${port}`
  const about = `${kind} ${name}${name === address ? '' : ` (${address})`}`
  if (server.isTunneled) return notChecked(about, 'is called through a proxy or a mesh, which is not tried')
  if (server.tlsProblem !== '') {
    const why = 'Calls to it fail with 503.'
    return {
      status: 'problem',
      about,
      finding: `its TLS settings are not usable: ${server.tlsProblem}`,
      why,
      fix: 'Correct the policy `tls`.',
    }
  }
  const result = await openConnection(server, timeoutMs)
  if (result.kind === 'failed') return unreachable(about, result)
  result.socket.destroy()
  const { alpn, certificate } = result
  if (version === 'HTTP2' && server.tls !== null && alpn !== 'h2') {
    return {
      ...{ status: 'problem', about, finding: 'does not speak HTTP/2, which the config demands' },
      why: 'Calls to it fail.',
      fix: 'Leave out `http.version`, or turn HTTP/2 on at the server.',
    }
  }
  const end = certificate === null ? Number.NaN : Date.parse(certificate.valid_to)
  if (end - now < SOON_MS) {
    const day = new Date(end).toISOString().slice(0, 10)
    const why = 'Calls fail afterwards.'
    return {
      status: 'warning',
      about,
      finding: `its certificate ends on ${day}`,
      why,
      fix: 'Renew the certificate of the server.',
    }
  }
  const spoken =
    server.tls === null ? 'accepts connections' : `accepts TLS${alpn === '' ? '' : `, ${VERSIONS[alpn] ?? alpn}`}`
  return fine(about, spoken)
}

const VERSIONS: Readonly<Record<string, string>> = { h2: 'HTTP/2', 'http/1.1': 'HTTP/1.1' }
const SOON_MS = 30 * 86_400_000
