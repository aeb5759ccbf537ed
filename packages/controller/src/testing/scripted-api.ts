import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { Connection, Credentials } from '../kube/connection.ts'
import { KubeClient } from '../kube/kube-client.ts'

export interface ReceivedRequest {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: unknown
}

export interface ScriptedApi {
  client: KubeClient
  connection: Connection
  /** All requests, in order. */
  asked: ReceivedRequest[]
  /** Resolves when a request for this path arrives. */
  received(path: string): Promise<void>
}

type Script = (asked: ReceivedRequest, response: ServerResponse) => void

/** An API server with scripted responses, for behavior that a real one shows rarely. */
export async function useScriptedApi(
  t: TestContext,
  script: Script,
  credentials: (fresh: boolean) => Promise<Credentials> = () =>
    Promise.resolve({ authorization: 'Bearer secret-token' }),
): Promise<ScriptedApi> {
  const asked: ReceivedRequest[] = []
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://api')
      const text = Buffer.concat(parts).toString()
      const body: unknown = text === '' ? undefined : JSON.parse(text)
      const one = { method: request.method ?? '', path: pathname, query: searchParams, headers: request.headers, body }
      asked.push(one)
      for (const check of waiting) check()
      script(one, response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connection = { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, credentials }
  const client = new KubeClient(connection)
  t.after(async () => {
    client.close()
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const received = (path: string): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (!asked.some((one) => one.path === path)) return
        waiting.delete(check)
        resolve()
      }
      waiting.add(check)
      check()
    })
  return { client, connection, asked, received }
}

export function answer(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

/** Sends an error response of the API server. */
export function failCall(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Record<string, string> = {},
): void {
  answer(response, status, { kind: 'Status', status: 'Failure', reason: 'Refused', message, code: status }, headers)
}
