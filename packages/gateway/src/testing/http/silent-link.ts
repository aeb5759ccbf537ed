import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

interface SilentLink {
  port: number
  host: string
  /** Number of connections so far. */
  connections: number
  /** Stops all bytes on the open connections without closing them. */
  goSilent(): void
}

/** A TCP relay to a port of loopback whose connections can go silent: their packets are lost for good. */
export async function useSilentLink(t: TestContext, to: number): Promise<SilentLink> {
  const pairs = new Set<[Socket, Socket]>()
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ port: to, host: '127.0.0.1', allowHalfOpen: true })
    const pair: [Socket, Socket] = [near, far]
    pairs.add(pair)
    link.connections++
    near.pipe(far).on('error', () => {})
    far.pipe(near).on('error', () => {})
    near.on('close', () => {
      pairs.delete(pair)
      far.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const sockets of pairs) for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const link: SilentLink = {
    port,
    host: `127.0.0.1:${port}`,
    connections: 0,
    goSilent() {
      for (const [near, far] of pairs) {
        near.unpipe(far)
        far.unpipe(near)
        // A host that is gone reads nothing, and keeps what was for it from arriving.
        near.pause()
        far.pause()
      }
    },
  }
  return link
}
