import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

interface Replicas {
  port: number
  /** The address of each request, in order. */
  seen: string[]
  /** How many requests an address got. */
  count(address: string): number
}

/** The same server at several addresses of loopback, on one port. */
export async function useReplicas(
  t: TestContext,
  addresses: readonly string[],
  answer: (address: string, response: ServerResponse, message: IncomingMessage) => void,
): Promise<Replicas> {
  const seen: string[] = []
  const servers = await listenAll(addresses, (address) =>
    createServer((message, response) => {
      seen.push(address)
      answer(address, response, message)
    }),
  )
  t.after(() => servers.forEach(stop))
  const { port } = servers[0]!.address() as AddressInfo
  return { port, seen, count: (address) => seen.filter((other) => other === address).length }
}

/** A port that is free at one address may be taken at another; then another port is tried for all of them. */
async function listenAll(addresses: readonly string[], create: (address: string) => Server): Promise<Server[]> {
  for (;;) {
    const servers: Server[] = []
    try {
      for (const address of addresses) {
        const port = servers.length === 0 ? 0 : (servers[0]!.address() as AddressInfo).port
        const server = create(address).listen(port, address)
        servers.push(server)
        await once(server, 'listening')
      }
      return servers
    } catch {
      servers.forEach(stop)
    }
  }
}

function stop(server: Server): void {
  server.close()
  server.closeAllConnections()
}
