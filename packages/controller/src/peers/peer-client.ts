import { type ClientHttp2Session, connect } from 'node:http2'
import { LineReader, SILENCE_LIMIT_MS, StreamFault } from '@portico/gateway/stream'
import { Backoff, type BackoffOptions } from '../kube/backoff.ts'
import type { Identity } from '../key-pair.ts'
import { PEER_LINE_LIMIT, type PeerMessage, PEERS_PATH, type PeerState, readPeerLine } from './peer-messages.ts'

export interface PeerClientOptions {
  /** The `host:port` of the other controller. */
  address: string
  /** The name in the certificate, because certificates do not contain Pod addresses. */
  serverName: string
  /** Read for every connection; undefined until there is a certificate. */
  identity: () => Identity | undefined
  /** Called with the Gateways whose state changed at the other controller. */
  changed: (gateways: Iterable<string>) => void
  /**
   * Called with true when the full state of the other controller has arrived, with false whenever a connection fails or
   * is lost.
   */
  heard: (isHeard: boolean, problem: string) => void
  backoff?: BackoffOptions
  silenceMs?: number
}

/** Receives the state of another controller's data planes, for as long as that controller exists. */
export class PeerClient {
  readonly #options: PeerClientOptions
  readonly #backoff: Backoff
  readonly #stateByGateway = new Map<string, PeerState>()
  #session: ClientHttp2Session | null = null
  #retry: NodeJS.Timeout | undefined
  #silence: NodeJS.Timeout | undefined
  #isHeard = false
  #isClosed = false

  constructor(options: PeerClientOptions) {
    this.#options = options
    this.#backoff = new Backoff(options.backoff ?? { firstMs: 250, mostMs: 10_000 })
    this.#connect()
  }

  /** Whether the full state of the other controller is known. */
  get isHeard(): boolean {
    return this.#isHeard
  }

  stateOf(gateway: string): PeerState | undefined {
    return this.#stateByGateway.get(gateway)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#retry)
    this.#session?.destroy()
  }

  #connect(): void {
    const { address, identity: find, serverName, silenceMs = SILENCE_LIMIT_MS } = this.#options
    const identity = find()
    if (identity === undefined) return this.#later()
    const session = connect(`https://${address}`, { ...identity, servername: serverName, minVersion: 'TLSv1.3' })
    this.#session = session
    let problem = 'the connection has ended'
    const end = (why: string): void => {
      problem = why
      session.destroy()
    }
    this.#silence = setTimeout(() => end('no message in time'), silenceMs)
    session.on('error', ({ message }) => (problem = message))
    session.on('close', () => this.#lost(problem))
    const stream = session.request({ ':method': 'GET', ':path': PEERS_PATH })
    stream.on('error', () => undefined)
    stream.on('response', ({ ':status': status }) => {
      if (status !== 200) end(`unexpected status ${status}`)
    })
    const reader = new LineReader(PEER_LINE_LIMIT, (line) => this.#take(readPeerLine(line)))
    stream.on('data', (bytes: Buffer) => {
      this.#silence?.refresh()
      try {
        reader.push(bytes)
      } catch (error) {
        if (!(error instanceof StreamFault)) throw error
        end(error.message)
      }
    })
    stream.on('close', () => session.destroy())
  }

  #take(message: PeerMessage): void {
    if (message.type === 'ping' || (!this.#isHeard && !message.whole)) return
    const changed = new Set([...(message.whole ? this.#stateByGateway.keys() : []), ...message.drop])
    for (const gateway of changed) this.#stateByGateway.delete(gateway)
    for (const [gateway, state] of message.put) {
      this.#stateByGateway.set(gateway, state)
      changed.add(gateway)
    }
    this.#backoff.reset()
    this.#setHeard(true, '')
    this.#options.changed(changed)
  }

  #lost(problem: string): void {
    clearTimeout(this.#silence)
    this.#session = null
    const gone = [...this.#stateByGateway.keys()]
    this.#stateByGateway.clear()
    if (this.#isClosed) return
    this.#setHeard(false, problem)
    this.#options.changed(gone)
    this.#later()
  }

  #setHeard(isHeard: boolean, problem: string): void {
    if (this.#isHeard === isHeard && isHeard) return
    this.#isHeard = isHeard
    this.#options.heard(isHeard, problem)
  }

  #later(): void {
    this.#retry = setTimeout(() => this.#connect(), this.#backoff.next())
  }
}
