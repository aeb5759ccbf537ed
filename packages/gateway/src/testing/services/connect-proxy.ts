import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'

export interface ConnectProxy {
  port: number
  /** `127.0.0.1:<port>` */
  host: string
  /** Heads of the requests it got. */
  heads: string[]
  /** Targets of the tunnels asked for. */
  targets: string[]
  /** Connections that are open, to clients and to targets. */
  connectionCount(): number
}

interface ConnectProxyOptions {
  /** The certificate, when the proxy itself speaks TLS. */
  tls?: { cert: string; key: string }
  /** The response in place of a tunnel; null sends nothing. */
  answer?: (head: string) => string | null | undefined
  /** Bytes sent along with the confirmation, before any byte of the target. */
  early?: string
  /** The port to connect to, in place of the target's own port. */
  portOf?: (target: string) => number
}

/** A forward proxy for CONNECT that resolves every name to this machine. */
export async function useConnectProxy(t: TestContext, options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const heads: string[] = []
  const targets: string[] = []
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }

  const serve = (client: Socket): void => {
    let received = ''
    const onData = (chunk: Buffer): void => {
      received += chunk.toString('latin1')
      if (!received.includes('\r\n\r\n')) return
      client.off('data', onData).pause()
      heads.push(received)
      targets.push(/^CONNECT (\S+) HTTP\/1\.1\r\n/.exec(received)?.[1] ?? '')
      const answer = options.answer?.(received)
      if (answer === undefined) open(client, targets.at(-1)!)
      else if (answer !== null) client.write(answer, 'latin1')
    }
    client.on('data', onData)
  }

  const open = (client: Socket, target: string): void => {
    const port = options.portOf?.(target) ?? Number(target.slice(target.lastIndexOf(':') + 1))
    const backend = keep(connect(port, '127.0.0.1'))
    backend.on('connect', () => {
      client.write(`HTTP/1.1 200 Connection established\r\n\r\n${options.early ?? ''}`)
      client.pipe(backend).pipe(client)
    })
    backend.on('close', () => client.destroy())
    client.on('close', () => backend.destroy())
  }

  const server =
    options.tls === undefined
      ? createServer((socket) => serve(keep(socket)))
      : createTlsServer(options.tls, (socket) => serve(keep(socket)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as AddressInfo
  return { port, host: `127.0.0.1:${port}`, heads, targets, connectionCount: () => sockets.size }
}
