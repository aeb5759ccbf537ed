import { createServer as createProxy, connect, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { TestContext } from 'node:test'
import { createAuthority } from '../certificates.ts'

/** Vendors of prompt guards by TLS, behind a proxy that finds all their hosts here. They refuse the word `forbidden`. */
interface VendorGuards {
  /** A backend for `tunnel`. */
  proxy: { name: string; static: { host: string; port: number } }
  /** Policies of a guard that is to come here. */
  policies: object
  /** Hosts and paths, as they were asked. */
  asked: string[]
  /** The credential of each call, with the name of its header. */
  credentials: string[]
}

export async function useVendorGuards(t: TestContext): Promise<VendorGuards> {
  const asked: string[] = []
  const credentials: string[] = []
  const server = createServer(createAuthority().issue(), (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const path = request.url ?? ''
      asked.push(`${request.headers.host}${path}`)
      const names = ['authorization', 'ocp-apim-subscription-key'].filter((name) => name in request.headers)
      credentials.push(names.map((name) => `${name}: ${String(request.headers[name])}`).join())
      const verdict = verdictOn(path, Buffer.concat(chunks).toString())
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(verdict))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sockets = new Set<Socket>()
  const proxy = createProxy((client) => {
    sockets.add(client.on('error', () => {}))
    client.once('data', () => {
      const vendor = connect(port, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n')
        client.pipe(vendor).pipe(client)
      })
      sockets.add(vendor.on('error', () => {}))
    })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
    server.close()
    server.closeAllConnections()
  })
  const name = 'guard-proxy'
  return {
    proxy: { name, static: { host: '127.0.0.1', port: (proxy.address() as AddressInfo).port } },
    policies: { tunnel: { backendRef: { name } }, tls: { insecureSkipVerify: 'All' }, auth: { key: 'guard-key' } },
    asked,
    credentials,
  }
}

function verdictOn(path: string, body: string): object {
  const isBad = body.includes('forbidden')
  if (path === '/v1/moderations') {
    const { input } = JSON.parse(body) as { input: string[] }
    return { results: input.map((text) => ({ flagged: text.includes('forbidden'), categories: { violence: true } })) }
  }
  if (path.startsWith('/guardrail/')) {
    const topic = { name: 'x', type: 'DENY', action: 'BLOCKED' }
    return isBad
      ? { action: 'GUARDRAIL_INTERVENED', outputs: [], assessments: [{ topicPolicy: { topics: [topic] } }] }
      : { action: 'NONE', outputs: [], assessments: [] }
  }
  if (path === '/v2/guard') {
    return { flagged: isBad, breakdown: [{ detector_type: 'moderated_content/hate', detected: isBad }], payload: [] }
  }
  if (path.includes('text:shieldPrompt'))
    return { userPromptAnalysis: { attackDetected: isBad }, documentsAnalysis: [] }
  if (path.includes('text:analyze')) {
    const { categories } = JSON.parse(body) as { categories: string[] }
    return { categoriesAnalysis: categories.map((category) => ({ category, severity: isBad ? 4 : 0 })) }
  }
  const filterMatchState = isBad ? 'MATCH_FOUND' : 'NO_MATCH_FOUND'
  return { sanitizationResult: { filterMatchState, filterResults: {}, invocationResult: 'SUCCESS' } }
}
