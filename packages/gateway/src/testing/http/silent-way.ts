import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export interface SilentWay {
  port: number
  host: string
  /** Connections so far. */
  connections: number
  /** Nothing passes any more on connections that are open now, and nobody is told. */
  goSilent(): void
}

/** A way to a port of loopback on which packets can get lost for good. */
export async function useSilentWay(t: TestContext, to: number): Promise<SilentWay> {
  const pairs = new Set<[Socket, Socket]>()
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ port: to, host: '127.0.0.1', allowHalfOpen: true })
    const pair: [Socket, Socket] = [near, far]
    pairs.add(pair)
    way.connections++
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
  const way: SilentWay = {
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
  return way
}
