import { once } from 'node:events'
import { createServer as createHttp2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { Server, ServerCredentials, type ServiceDefinition, type UntypedServiceImplementation } from '@grpc/grpc-js'
import { Deadlines, Hops } from '@portico/http'
import { createTable, SharedTable } from '../../state/shared-table.ts'
import { createResolver, defaultSettings, Destination, Endpoints, Pools } from '@portico/http/client'
import type { GrpcMethod, GrpcOptions, GrpcStreamMethod } from '@portico/http/grpc'

/** Messages that are texts, so that tests can be read. */
export const textMethod = (name: string): GrpcMethod<string, string> & GrpcStreamMethod<string, string> => ({
  path: `/test.Texts/${name}`,
  encode: (text) => Buffer.from(text),
  encodeFrame(text) {
    const prefix = Buffer.alloc(5)
    prefix.writeUInt32BE(Buffer.byteLength(text), 1)
    return Buffer.concat([prefix, Buffer.from(text)])
  },
  decode: (bytes) => Buffer.from(bytes).toString(),
})

/** A server of `test.Texts`, made of handlers of grpc-js; methods take and give texts, streamed both ways in all but `Unary`. */
export async function useTextServer(t: TestContext, handlers: UntypedServiceImplementation): Promise<number> {
  const entries = Object.keys(handlers).map((name) => {
    const isStream = name !== 'Unary'
    const method = {
      path: `/test.Texts/${name}`,
      requestStream: isStream,
      responseStream: isStream,
      requestSerialize: (text: string) => Buffer.from(text),
      requestDeserialize: (bytes: Buffer) => bytes.toString(),
      responseSerialize: (text: string) => Buffer.from(text),
      responseDeserialize: (bytes: Buffer) => bytes.toString(),
    }
    return [name, method] as const
  })
  const definition: ServiceDefinition = Object.fromEntries(entries)
  const server = new Server()
  server.addService(definition, handlers)
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound)
      else reject(error)
    })
  })
  t.after(() => server.forceShutdown())
  return port
}

/** A server of HTTP/2 that need not speak gRPC well. */
export async function useHttp2Server(t: TestContext, answer: (stream: ServerHttp2Stream) => void): Promise<number> {
  const server = createHttp2Server()
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', (session) => sessions.add(session.on('error', () => {})))
  server.on('stream', (stream: ServerHttp2Stream) => answer(stream.on('error', () => {})))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** Calls to a port, over pools as a worker has them. */
export function useGrpcClient(t: TestContext, port: number, deadlines = new Deadlines()): GrpcOptions {
  const resolver = createResolver({ family: 'Auto' })
  const defaults = { connectTimeoutMs: 5_000, poolIdleTimeoutMs: 60_000, poolMaxIdle: 10 }
  const pools = new Pools(deadlines, new Hops('test'), () => ({
    opened() {},
    closed() {},
    connectFailed() {},
    fellSilent() {},
  }))
  const destination = new Destination({
    backend: { key: 'b', name: 'b' },
    address: { host: '127.0.0.1', port },
    settings: defaultSettings(defaults),
    guard: null,
    resolver,
    pools,
    endpoints: new Endpoints({
      counters: new SharedTable(createTable()),
      random: () => 0,
      monotonic: () => 0,
      evicted() {},
    }),
  })
  t.after(() => {
    pools.close()
    resolver.close()
    deadlines.close()
  })
  return {
    send: (request, handler) => destination.send(request, 'HTTP2', { hops: '', connectingTo() {} }, handler),
    authority: `127.0.0.1:${port}`,
    deadlines,
    maxMessageBytes: 1_000_000,
  }
}
