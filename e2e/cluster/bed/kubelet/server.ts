import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { Duplex } from 'node:stream'
import { serveExec } from './exec.ts'
import { KUBELET_PORT, NODE_ADDRESS } from './node-settings.ts'
import type { Pod } from './pod.ts'
import { servePortForward } from './port-forward.ts'

interface ServerSettings {
  cert: string
  key: string
  ca: string
  find: (namespace: string, name: string) => Pod | undefined
}

/** The kubelet's own port, which the API server asks for logs, commands and forwarded ports. */
export function startServer({ find, ...tls }: ServerSettings): Server {
  const server = createServer({ ...tls, requestCert: true, rejectUnauthorized: true }, (request, response) => {
    const { what, pod, container, query } = read(request, find)
    if (what === 'healthz') response.end('ok')
    else if (pod === undefined) response.writeHead(404).end('no such Pod')
    else if (what === 'containerLogs') serveLogs(pod, container, query, response)
    else response.writeHead(404).end('no such path')
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    const { what, pod, container, query } = read(request, find)
    if (pod !== undefined && what === 'portForward') servePortForward(pod, request, socket)
    else if (pod !== undefined && what === 'exec') serveExec(pod, container, query, request, socket)
    else socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n')
  })
  return server.listen(KUBELET_PORT, NODE_ADDRESS)
}

interface Read {
  what: string
  pod: Pod | undefined
  container: string
  query: URLSearchParams
}

function read({ url = '' }: IncomingMessage, find: ServerSettings['find']): Read {
  const { pathname, searchParams: query } = new URL(url, 'https://kubelet')
  const [, what = '', namespace = '', name = '', container = ''] = pathname.split('/')
  return { what, pod: find(namespace, name), container, query }
}

function serveLogs(pod: Pod, name: string, query: URLSearchParams, response: ServerResponse): void {
  const container = pod.containers.find(({ spec }) => spec.name === name)
  if (container === undefined) return void response.writeHead(404).end('no such container')
  const [seconds, time, tail] = ['sinceSeconds', 'sinceTime', 'tailLines'].map((key) => query.get(key))
  const since = seconds ? Date.now() - Number(seconds) * 1000 : Date.parse(time ?? '') || 0
  const isDated = query.get('timestamps') === 'true'
  const textOf = ({ at, text }: { at: number; text: string }): string =>
    `${isDated ? `${new Date(at).toISOString()} ` : ''}${text}\n`
  response.writeHead(200, { 'content-type': 'text/plain' })
  response.write(
    container.logs
      .lines(since, tail ? Number(tail) : Infinity)
      .map(textOf)
      .join(''),
  )
  if (query.get('follow') !== 'true') return void response.end()
  const leave = container.logs.follow((line) => response.write(textOf(line)))
  response.on('close', leave)
}
