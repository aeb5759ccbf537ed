import { once } from 'node:events'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TestContext } from 'node:test'
import { KubeClient } from '../kube/kube-client.ts'
import { createAuthority, issueServing } from '../publish/certificate.ts'

/** Both sides of a proxy: an API server that echoes requests, and a client with a token. */

export async function useApiServer(t: TestContext, names: string[]): Promise<{ port: number; ca: string }> {
  const validity = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) }
  const authority = createAuthority('Test', validity)
  const { cert, key } = issueServing(authority, { names, name: 'k', validity })
  const server = createTlsServer({ cert, key }, (request, response) =>
    response.end(JSON.stringify({ path: request.url })),
  )
  server.on('upgrade', (_request, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n')
    socket.pipe(socket)
  })
  return { port: await useListening(t, server), ca: authority.cert }
}

export function useProxiedClient(
  t: TestContext,
  { server, proxy, ca }: { server: string; proxy: string; ca: string },
): KubeClient {
  const credentials = () => Promise.resolve({ ...(ca !== '' && { ca }), authorization: 'Bearer secret-token' })
  const client = new KubeClient({ server, proxy, credentials })
  t.after(() => client.close())
  return client
}

/** Listens on loopback and returns the port; the server closes with the test. */
export async function useListening(t: TestContext, server: Server): Promise<number> {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => open.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    for (const socket of open) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return (server.address() as AddressInfo).port
}

/** Relays a connection to a port, after a greeting. */
export function leadTo(port: number, near: Duplex, welcome: string | Buffer): void {
  const far = connect(port, '127.0.0.1', () => near.write(welcome))
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on('error', () => undefined).on('close', () => other.destroy())
  }
  near.pipe(far).pipe(near)
}
