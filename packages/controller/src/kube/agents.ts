import * as http from 'node:http'
import * as https from 'node:https'
import type { ConnectionOptions } from 'node:tls'
import type { Credentials } from './connection.ts'
import { connectBySocks, hostOf } from './socks.ts'

/** The HTTP agents of one server. An agent is reused until the TLS credentials change. */
export class Agents {
  readonly #server: URL
  readonly #proxy: string | undefined
  #agent: http.Agent | undefined
  #agentOf: Credentials | undefined

  constructor(server: URL, proxy: string | undefined) {
    this.#server = server
    this.#proxy = proxy
  }

  agentFor(credentials: Credentials): http.Agent {
    const known = this.#agentOf
    const isSame = known !== undefined && TLS_FIELDS.every((field) => known[field] === credentials[field])
    if (this.#agent !== undefined && isSame) return this.#agent
    // Requests under way keep their sockets.
    this.#agentOf = credentials
    this.#agent = this.#create(credentials)
    return this.#agent
  }

  /** Closes the connections of the current agent, also those in use. */
  close(): void {
    this.#agent?.destroy()
  }

  #create({ ca, cert, key, serverName, insecure }: Credentials): http.Agent {
    const proxy = this.#proxy
    const isSocks = proxy?.startsWith('socks5') === true
    const proxyEnv = { http_proxy: proxy, https_proxy: proxy }
    const common = { keepAlive: true, keepAliveMsecs: 15_000, ...(proxy !== undefined && !isSocks && { proxyEnv }) }
    const agent =
      this.#server.protocol === 'https:'
        ? new https.Agent({
            ...common,
            ...(ca !== undefined && { ca }),
            ...(cert !== undefined && { cert }),
            ...(key !== undefined && { key }),
            ...(serverName !== undefined && { servername: serverName }),
            rejectUnauthorized: insecure !== true,
          })
        : new http.Agent(common)
    if (isSocks) agent.createConnection = connectionsBySocks(new URL(proxy), this.#server)
    return agent
  }
}

function connectionsBySocks(proxy: URL, server: URL): http.Agent['createConnection'] {
  const isTls = server.protocol === 'https:'
  const place = { host: hostOf(server), port: Number(server.port || (isTls ? '443' : '80')) }
  return (options, ready) => {
    const made = connectBySocks(proxy, place, isTls ? (options as ConnectionOptions) : null)
    // On failure there is no socket, and the agent only reads the error.
    made.then(
      (socket) => ready?.(null, socket),
      (error: Error) => ready?.(error, undefined as never),
    )
    return undefined
  }
}

const TLS_FIELDS = ['ca', 'cert', 'key', 'serverName', 'insecure'] as const
