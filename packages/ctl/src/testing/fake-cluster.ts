import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { TestContext } from 'node:test'
import { acceptSpdy } from '../../../../e2e/cluster/bed/kubelet/spdy-upgrade.ts'

export interface FakeCluster {
  /** The kubeconfig: a user with a token, the namespace shop. */
  kubeconfig: string
  /** Requests, such as `GET /api/v1/…?labelSelector=…`. */
  asked: string[]
}

interface FakeClusterOptions {
  /** Objects by path, or functions of the query; other paths return 404. */
  objects: Readonly<Record<string, unknown>>
  /** Ports of this machine that stand for ports of Pods, by `pod:port`. */
  ports?: Readonly<Record<string, number>>
  /** Paths that return 403. */
  forbidden?: readonly string[]
}

/** An API server with a few objects, whose Pods are servers of this machine. */
export async function useFakeCluster(t: TestContext, options: FakeClusterOptions): Promise<FakeCluster> {
  const { objects, ports = {}, forbidden = [] } = options
  const asked: string[] = []
  const sockets = new Set<Duplex>()
  const server = createServer((request, response) => {
    const { pathname, search, searchParams } = new URL(request.url ?? '', 'http://api')
    asked.push(`${request.method} ${pathname}${search}`)
    const say = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (request.headers.authorization !== 'Bearer of-ann') return say(401, { message: 'Unauthorized' })
    if (forbidden.includes(pathname)) return say(403, { reason: 'Forbidden', message: `${pathname} is forbidden` })
    const known = objects[pathname]
    const found: unknown = typeof known === 'function' ? known(searchParams) : known
    return found === undefined ? say(404, { reason: 'NotFound', message: 'not found' }) : say(200, found)
  })
  server.on('upgrade', (request, socket: Duplex) => {
    sockets.add(socket)
    const [, pod = ''] = /\/pods\/([^/]+)\/portforward$/.exec(request.url ?? '') ?? []
    asked.push(`${request.method} ${request.url}`)
    if (forbidden.includes(request.url ?? '')) {
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')
      return
    }
    const problemsById = new Map<string, Duplex>()
    acceptSpdy({ request, socket, protocols: ['portforward.k8s.io'] }, ({ headers, stream }) => {
      const id = headers.get('requestid') ?? ''
      if (headers.get('streamtype') === 'error') {
        problemsById.set(id, stream.resume())
        return
      }
      const port = ports[`${pod}:${headers.get('port')}`]
      const problems = problemsById.get(id)
      if (port === undefined) {
        problems?.end(`failed to connect to localhost:${headers.get('port')} inside the Pod: connection refused\n`)
        stream.end()
        return
      }
      const there = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
      sockets.add(there)
      there.on('error', () => stream.destroy())
      stream.pipe(there).pipe(stream)
      stream.on('close', () => there.destroy())
      there.on('close', () => problems?.end())
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const folder = mkdtempSync(join(tmpdir(), 'fake-cluster-'))
  t.after(async () => {
    rmSync(folder, { recursive: true, force: true })
    for (const socket of sockets) socket.destroy()
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const kubeconfig = join(folder, 'config')
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      'current-context': 'fake',
      contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'ann', namespace: 'shop' } }],
      clusters: [{ name: 'fake', cluster: { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } }],
      users: [{ name: 'ann', user: { token: 'of-ann' } }],
    }),
  )
  return { kubeconfig, asked }
}

export function podOf(name: string, { isReady = true, env = [] as object[] } = {}): object {
  return {
    metadata: { name, namespace: 'shop' },
    spec: { containers: [{ name: 'portico', env }] },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
    },
  }
}

export function listOf(...items: object[]): object {
  return { apiVersion: 'v1', kind: 'List', metadata: {}, items }
}

export const PODS = '/api/v1/namespaces/shop/pods'
export const GATEWAYS = '/apis/gateway.networking.k8s.io/v1/namespaces/shop/gateways'
