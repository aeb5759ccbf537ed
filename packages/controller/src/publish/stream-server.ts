import { once } from 'node:events'
import { createSecureServer, type Http2SecureServer, type IncomingHttpHeaders } from 'node:http2'
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { DATA_PLANE_LINE_LIMIT, type Hello, LineReader, STREAM_PATH } from '@portico/gateway/stream'
import { type DataPlaneMessage, readDataPlaneLine, StreamFault } from '@portico/gateway/stream'
import type { Reviewed } from '../kube/token-review.ts'
import type { KeyPair } from './certificate.ts'
import { type Refusal, REFUSALS } from './counts.ts'

/** Who has shown a token that is good. */
export type Caller = Extract<Reviewed, { ok: true }>

/** What becomes of a stream whose caller and Gateway are known. */
export interface Taken {
  /** Throws a StreamFault where a message is against the rules. */
  heard(message: DataPlaneMessage): void
  /** A line was against the rules; the stream ends after a last word. */
  faulty(reason: string): void
  closed(): void
}

export interface StreamServerOptions {
  review: (token: string) => Promise<Reviewed>
  /** Null when the caller may not have this Gateway. */
  take: (hello: Hello, caller: Caller, stream: ServerHttp2Stream) => Taken | null
  refused: (reason: Refusal, fields: Readonly<Record<string, unknown>>) => void
  helloLimitMs?: number
  mostReviews?: number
  mostStreams?: number
  lineLimit?: number
}

/** HTTP/2 over TLS for data planes: lets in whose token is good, and reads their lines. */
export class StreamServer {
  readonly #options: Required<StreamServerOptions>
  readonly #sessions = new Set<ServerHttp2Session>()
  readonly #streamsByCaller = new Map<string, number>()
  #server: Http2SecureServer | undefined
  #reviews = 0
  #isClosing = false

  constructor(options: StreamServerOptions) {
    this.#options = {
      helloLimitMs: 10_000,
      mostReviews: 64,
      mostStreams: 4,
      lineLimit: DATA_PLANE_LINE_LIMIT,
      ...options,
    }
  }

  /** The port it listens at. */
  async listen(serving: KeyPair, { port, host }: { port: number; host?: string }): Promise<number> {
    const settings = { maxConcurrentStreams: this.#options.mostStreams, enableConnectProtocol: false }
    const server = createSecureServer({ ...secure(serving), allowHTTP1: false, handshakeTimeout: 10_000, settings })
    this.#server = server
    server.on('session', (session) => this.#watch(session))
    server.on('stream', (stream, headers) => void this.#meet(stream as ServerHttp2Stream, headers))
    server.on('tlsClientError', () => this.#options.refused('handshake', {}))
    server.on('unknownProtocol', (socket) => {
      this.#options.refused('handshake', {})
      socket.destroy()
    })
    server.listen(port, host)
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }

  /** For connections from now on. */
  renew(serving: KeyPair): void {
    this.#server?.setSecureContext(secure(serving))
  }

  /** Takes nobody in any more; who is still there after a while is cut off. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true
    const server = this.#server
    if (server === undefined) return
    const closed = once(server, 'close')
    server.close()
    for (const session of this.#sessions) session.close()
    const cut = setTimeout(() => this.#sessions.forEach((session) => session.destroy()), graceMs)
    await closed
    clearTimeout(cut)
  }

  /** One on which no stream is taken has nothing to do here. */
  #watch(session: ServerHttp2Session): void {
    this.#sessions.add(session)
    session.on('error', () => {})
    const idle = setTimeout(() => session.destroy(), 2 * this.#options.helloLimitMs).unref()
    session.once(TAKEN, () => clearTimeout(idle))
    session.on('close', () => {
      clearTimeout(idle)
      this.#sessions.delete(session)
    })
  }

  async #meet(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    stream.on('error', () => {})
    const address = addressOf(stream)
    if (this.#isClosing) return this.#refuse(stream, 'closing', { address })
    if (headers[':method'] !== 'POST' || headers[':path'] !== STREAM_PATH)
      return this.#refuse(stream, 'unknown_path', { address })
    const [, token] = /^bearer +([\w.~+/=-]{1,16384})$/i.exec(headers.authorization ?? '') ?? []
    if (token === undefined) return this.#refuse(stream, 'no_token', { address })
    if (this.#reviews >= this.#options.mostReviews) return this.#refuse(stream, 'busy', { address })
    // Nothing of what is sent is read before it is known who sends it.
    const reviewed = await this.#review(token)
    if (stream.destroyed) return
    if (reviewed === null) return this.#refuse(stream, 'review_failed', { address })
    if (!reviewed.ok) return this.#refuse(stream, 'token', { address, why: reviewed.why })
    const { namespace, serviceAccount, pod } = reviewed
    const caller = `${namespace}/${serviceAccount}/${pod ?? address}`
    const count = this.#streamsByCaller.get(caller) ?? 0
    const fields = { address, namespace, serviceAccount, pod }
    if (count >= this.#options.mostStreams) return this.#refuse(stream, 'too_many_streams', fields)
    this.#streamsByCaller.set(caller, count + 1)
    stream.on('close', () => this.#left(caller))
    this.#read(stream, reviewed, fields)
  }

  async #review(token: string): Promise<Reviewed | null> {
    this.#reviews++
    try {
      return await this.#options.review(token)
    } catch {
      return null
    } finally {
      this.#reviews--
    }
  }

  #left(caller: string): void {
    const count = (this.#streamsByCaller.get(caller) ?? 1) - 1
    if (count === 0) this.#streamsByCaller.delete(caller)
    else this.#streamsByCaller.set(caller, count)
  }

  #read(stream: ServerHttp2Stream, caller: Caller, fields: Readonly<Record<string, unknown>>): void {
    const { helloLimitMs, lineLimit, take } = this.#options
    let taken: Taken | null = null
    let isOver = false
    const refuse = (reason: Refusal, more = {}): void => {
      isOver = true
      this.#refuse(stream, reason, { ...fields, ...more })
    }
    const late = setTimeout(() => refuse('no_hello'), helloLimitMs)
    const begin = (line: string): void => {
      clearTimeout(late)
      if (stream.closed) return
      const hello = readDataPlaneLine(line)
      if (hello.type !== 'hello') throw new StreamFault('the first message is no hello')
      taken = take(hello, caller, stream)
      if (taken === null) return refuse('foreign_gateway', { gateway: hello.gateway, instance: hello.instance })
      stream.session?.emit(TAKEN)
    }
    const reader = new LineReader(lineLimit, (line) => {
      if (isOver) return
      if (taken === null) begin(line)
      else taken.heard(readDataPlaneLine(line))
    })
    stream.on('data', (bytes: Buffer) => {
      if (isOver) return
      try {
        reader.push(bytes)
      } catch (error) {
        if (!(error instanceof StreamFault)) throw error
        isOver = true
        if (taken === null) return refuse('malformed', { why: error.message })
        this.#options.refused('malformed', { ...fields, why: error.message })
        taken.faulty(error.message)
      }
    })
    // A data plane that says no more is gone.
    stream.on('end', () => stream.close())
    stream.on('close', () => {
      clearTimeout(late)
      isOver = true
      taken?.closed()
      // A data plane has one stream on a connection.
      if (taken !== null) stream.session?.close()
    })
  }

  #refuse(stream: ServerHttp2Stream, reason: Refusal, fields: Readonly<Record<string, unknown>>): void {
    this.#options.refused(reason, fields)
    if (stream.destroyed || stream.closed || stream.headersSent) return
    const headers = { ':status': STATUSES[reason] ?? 400, 'content-type': 'text/plain' }
    stream.respond(headers)
    // What the other end still wanted to say is not waited for.
    stream.end(`${REFUSALS[reason]}\n`, () => stream.close(constants.NGHTTP2_NO_ERROR))
  }
}

/** Told to a session that has a stream of a data plane. */
const TAKEN = Symbol('taken')

const STATUSES: Partial<Record<Refusal, number>> = {
  unknown_path: 404,
  no_token: 401,
  token: 401,
  review_failed: 503,
  busy: 503,
  too_many_streams: 429,
  no_hello: 408,
  malformed: 400,
  foreign_gateway: 403,
  closing: 503,
}

/** Undefined when the connection is gone. */
export function addressOf({ session }: ServerHttp2Stream): string | undefined {
  return session === undefined || session.destroyed ? undefined : session.socket.remoteAddress
}

function secure({ cert, key }: KeyPair): { cert: string; key: string; minVersion: 'TLSv1.3' } {
  return { cert, key, minVersion: 'TLSv1.3' }
}
