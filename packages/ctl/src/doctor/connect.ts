import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions, type PeerCertificate } from 'node:tls'

interface Destination {
  readonly host: string
  readonly port: number
  /** The path of a Unix domain socket; null for TCP. */
  readonly path: string | null
  /** The TLS options; null for plain text. */
  readonly tls: ConnectionOptions | null
}

/** The open connection, or the code of the error. */
export type ConnectResult =
  | {
      readonly kind: 'open'
      readonly socket: Socket
      readonly alpn: string
      readonly certificate: PeerCertificate | null
    }
  | { readonly kind: 'failed'; readonly code: string; readonly isTls: boolean }

/** Connects to a server, with TLS when `tls` is set. The caller destroys the socket. */
export function openConnection({ host, port, path, tls }: Destination, timeoutMs: number): Promise<ConnectResult> {
  return new Promise((resolve) => {
    const plain = path === null ? connectTcp({ host, port }) : connectTcp({ path })
    let isTls = false
    let current = plain
    const fail = (error: NodeJS.ErrnoException): void => {
      clearTimeout(timer)
      plain.destroy()
      resolve({ kind: 'failed', code: error.code ?? error.message, isTls })
    }
    const timer = setTimeout(() => fail(Object.assign(new Error(), { code: 'ETIMEDOUT' })), timeoutMs)
    const open = (alpn: string, certificate: PeerCertificate | null): void => {
      clearTimeout(timer)
      current.off('error', fail)
      current.on('error', () => {})
      resolve({ kind: 'open', socket: current, alpn, certificate })
    }
    plain.once('error', fail)
    plain.once('connect', () => {
      if (tls === null) return open('', null)
      isTls = true
      const secure = connectTls({ ...tls, socket: plain })
      current = secure
      secure.once('error', fail)
      secure.once('secureConnect', () => open(secure.alpnProtocol || '', secure.getPeerCertificate()))
    })
  })
}
