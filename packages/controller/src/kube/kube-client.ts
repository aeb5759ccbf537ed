import type { ClientRequest, IncomingMessage } from 'node:http'
import * as http from 'node:http'
import * as https from 'node:https'
import type { Duplex } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { Agents } from './agents.ts'
import { describeRequest, asKubeError, parseJson, successOf, readText } from './responses.ts'
import type { Connection, Credentials } from './connection.ts'
import { KubeError } from './kube-error.ts'
import { linesOf } from './lines.ts'

export interface Ask {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  query?: Readonly<Record<string, string | number | boolean | undefined>>
  body?: object
  contentType?: string
  accept?: string
  signal?: AbortSignal
  /** The time limit for the response, or for the head of a stream. */
  limitMs?: number
  /** Called when a stream has begun: the server has sent the head of its response. */
  opened?: () => void
}

interface AskUpgrade {
  method?: 'GET' | 'POST'
  path: string
  /** The protocol after the upgrade. */
  protocol: string
  headers: Readonly<Record<string, string>>
  signal?: AbortSignal
}

/** A connection after an HTTP upgrade, and the bytes that came with the response head. */
interface UpgradedConnection {
  socket: Duplex
  head: Buffer
  headers: http.IncomingHttpHeaders
}

/** Sends requests to one API server, with kept connections, rotating credentials and limits on responses. */
export class KubeClient {
  readonly #connection: Connection
  readonly #base: URL
  readonly #agents: Agents

  constructor(connection: Connection) {
    this.#connection = connection
    this.#base = new URL(connection.server)
    this.#agents = new Agents(this.#base, connection.proxy)
  }

  /** Returns the JSON of the response; throws a KubeError for anything but success. */
  async ask(ask: Ask): Promise<unknown> {
    for (let tries = 1; ; tries += 1) {
      const limit = AbortSignal.timeout(ask.limitMs ?? ANSWER_LIMIT_MS)
      const signal = ask.signal === undefined ? limit : AbortSignal.any([ask.signal, limit])
      try {
        const response = await this.#send({ ...ask, signal })
        return parseJson(describeRequest(ask), await readText(response))
      } catch (error) {
        if (ask.signal?.aborted) throw ask.signal.reason
        const problem = limit.aborted
          ? new KubeError(describeRequest(ask), { message: 'request timed out', cause: error })
          : asKubeError(describeRequest(ask), error)
        // With 429 the server has done nothing yet, so a retry is safe; all other errors are left to the caller.
        if (problem.status !== 429 || problem.retryAfterMs === undefined || tries === MOST_TRIES) throw problem
        await wait(problem.retryAfterMs, undefined, ask.signal && { signal: ask.signal })
      }
    }
  }

  /** Yields the lines of the response, each parsed as JSON, until the server ends it or the signal aborts. */
  async *stream(ask: Ask): AsyncGenerator {
    const head = new AbortController()
    const timer = setTimeout(() => head.abort(new Error('request timed out')), ask.limitMs ?? ANSWER_LIMIT_MS)
    try {
      const signal = ask.signal === undefined ? head.signal : AbortSignal.any([ask.signal, head.signal])
      const response = await this.#send({ ...ask, signal })
      clearTimeout(timer)
      ask.opened?.()
      for await (const line of linesOf(response, MOST_LINE_BYTES)) yield parseJson(describeRequest(ask), line)
    } catch (error) {
      if (ask.signal?.aborted) throw ask.signal.reason
      throw asKubeError(describeRequest(ask), head.signal.aborted ? head.signal.reason : error)
    } finally {
      clearTimeout(timer)
      // Closes the connection when the reader leaves.
      head.abort()
    }
  }

  /** Opens a connection of its own that switches protocols. Throws a KubeError when the server declines. */
  async upgrade({ method = 'POST', path, protocol, headers, signal }: AskUpgrade): Promise<UpgradedConnection> {
    const ask: Ask = { method, path }
    const limit = AbortSignal.timeout(ANSWER_LIMIT_MS)
    const ending = signal === undefined ? limit : AbortSignal.any([signal, limit])
    const send = async (isFresh: boolean): Promise<UpgradedConnection | IncomingMessage> => {
      const credentials = await this.#connection.credentials(isFresh)
      const request = this.#request({ ...ask, signal: ending }, credentials, {
        ...headers,
        connection: 'Upgrade',
        upgrade: protocol,
      })
      return new Promise((resolve, reject) => {
        request.on('upgrade', (response, socket, head) => resolve({ socket, head, headers: response.headers }))
        request.on('response', resolve).on('error', (error) => {
          // The server may have closed the kept connection at that moment.
          if (request.reusedSocket && !ending.aborted) resolve(send(isFresh))
          else reject(error)
        })
        request.end()
      })
    }
    try {
      let answer = await send(false)
      if (!('head' in answer) && answer.statusCode === 401) {
        answer.resume()
        answer = await send(true)
      }
      if ('head' in answer) return answer
      await successOf(ask, answer)
      throw new KubeError(describeRequest(ask), {
        status: answer.statusCode ?? 0,
        message: `server did not switch to ${protocol}`,
      })
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      throw limit.aborted
        ? new KubeError(describeRequest(ask), { message: 'request timed out', cause: error })
        : asKubeError(describeRequest(ask), error)
    }
  }

  /** Closes the connections to the server, also those in use. */
  close(): void {
    this.#agents.close()
  }

  async #send(ask: Ask): Promise<IncomingMessage> {
    const response = await this.#sendAs(ask, await this.#connection.credentials(false))
    if (response.statusCode !== 401) return successOf(ask, response)
    // The token may have been rotated since it was read.
    response.resume()
    return successOf(ask, await this.#sendAs(ask, await this.#connection.credentials(true)))
  }

  #sendAs(ask: Ask, credentials: Credentials): Promise<IncomingMessage> {
    const body = ask.body === undefined ? undefined : Buffer.from(JSON.stringify(ask.body))
    const { contentType = 'application/json' } = ask
    const sent: Record<string, string> =
      body === undefined ? {} : { 'content-type': contentType, 'content-length': String(body.length) }
    return new Promise((resolve, reject) => {
      const request = this.#request(ask, credentials, sent)
      let isAnswered = false
      request.on('response', (response) => {
        isAnswered = true
        resolve(response)
      })
      request.on('error', (error) => {
        // The server may have closed the kept connection at that moment. A create is not retried, because it may have
        // succeeded.
        const mayAskAgain = request.reusedSocket && !isAnswered && ask.method !== 'POST'
        if (mayAskAgain && ask.signal?.aborted !== true) resolve(this.#sendAs(ask, credentials))
        else reject(error)
      })
      request.end(body)
    })
  }

  #request(ask: Ask, credentials: Credentials, more: Readonly<Record<string, string>>): ClientRequest {
    const { method = 'GET', accept = 'application/json', signal } = ask
    const url = new URL(this.#base.pathname.replace(/\/$/, '') + ask.path, this.#base)
    for (const [name, value] of Object.entries(ask.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value))
    }
    const headers: Record<string, string> = { accept, 'user-agent': 'portico', ...more }
    if (credentials.authorization !== undefined) headers['authorization'] = credentials.authorization
    const { request } = url.protocol === 'https:' ? https : http
    return request(url, { method, headers, agent: this.#agents.agentFor(credentials), ...(signal && { signal }) })
  }
}

const ANSWER_LIMIT_MS = 30_000
const MOST_TRIES = 5
/** The longest line: an object of at most 1.5 MB in etcd, plus what the server adds. */
const MOST_LINE_BYTES = 16 * 1024 * 1024
