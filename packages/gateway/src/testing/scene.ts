import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { startGateway, type TestGateway, type TestGatewayOptions } from './gateway.ts'
import { startOrigin, type Origin, type OriginHandler } from './origin.ts'

/** Things that a test sets up and that go away with it. */

export async function useOrigin(t: TestContext, handler?: OriginHandler): Promise<Origin> {
  const origin = await startOrigin(handler)
  t.after(() => origin.close())
  return origin
}

/** A gateway with that config; JSON is YAML too. */
export async function useGateway(t: TestContext, config: object, options?: TestGatewayOptions): Promise<TestGateway> {
  const gateway = await startGateway(JSON.stringify(config), options)
  t.after(() => gateway.close())
  return gateway
}

/** An origin that answers with bytes, not with HTTP. */
export async function useTcpServer(
  t: TestContext,
  onConnection: (socket: Socket) => void,
  host = '127.0.0.1',
): Promise<{ port: number; host: string; sockets: Socket[] }> {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    onConnection(socket)
  })
  server.listen(0, host)
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, host: `${host}:${port}`, sockets }
}

/**
 * A port of loopback without a listener. An open connection reserves the port, so that no server that listens on any
 * free port gets it, this test's own servers included. A server can still listen on this port explicitly.
 */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const accepted = once(server, 'connection')
  connect(port, '127.0.0.1')
    .on('error', () => {})
    .unref()
  const [kept] = (await accepted) as [Socket]
  kept.on('error', () => {}).unref()
  server.close()
  return port
}

/** One HTTP listener with these routes. */
export function httpConfig(routes: object[], more: { frontend?: object; backends?: object[]; listener?: object } = {}) {
  const { listener, ...top } = more
  return { ...top, binds: [{ port: 0, listeners: [{ ...listener, routes }] }] }
}

/** One route to one backend. */
export function routeTo(backend: { host: string }, policies: object = {}, route: object = {}): object {
  return { policies, backends: [{ host: backend.host }], ...route }
}

export function pathPrefix(prefix: string): object {
  return { matches: [{ path: { pathPrefix: prefix } }] }
}

/** A port that another program has. */
export async function takenPort(t: TestContext): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

/** Waits for something that no event tells of. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2))
}
