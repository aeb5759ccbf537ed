import type { Socket } from 'node:net'
import { RedisFailure, type RedisReply, RespReader } from './resp-reader.ts'

interface ClientParts {
  /** Starts to connect; with TLS, the `secureConnect` event says that the connection can be used. */
  connect(): { socket: Socket; ready: 'connect' | 'secureConnect' }
  /** Commands that begin each connection; an error reply to one of them fails the connection. */
  greeting: readonly (readonly string[])[]
  /** The longest time that a command waits for its reply. */
  timeoutMs: number
}

/** Why a command has no reply. */
export class RedisUnavailable extends Error {
  /** Whether Redis may run the command all the same. */
  readonly wasSent: boolean
  readonly isTimeout: boolean

  constructor(problem: string, { wasSent, isTimeout = false }: { wasSent: boolean; isTimeout?: boolean }) {
    super(problem)
    this.wasSent = wasSent
    this.isTimeout = isTimeout
  }
}

interface PendingCommand {
  readonly bytes: string
  readonly expiresAt: number
  /** Null once the time is over: the reply is read, and nobody waits for it. */
  settle: { resolve(reply: RedisReply): void; reject(error: RedisUnavailable): void } | null
}

/**
 * One connection to Redis, on which commands are pipelined. A command waits for a connection that is being opened, and
 * fails at once while there is none, or while Redis owes an answer to a command whose time is over.
 */
export class RedisClient {
  readonly #parts: ClientParts
  #socket: Socket | null = null
  #state: 'connecting' | 'ready' | 'down' | 'closed' = 'down'
  /** Commands for the connection that is being opened. */
  #queued: PendingCommand[] = []
  /** Commands that were sent, in the order of their replies. */
  #sent: PendingCommand[] = []
  /** Commands that are not written yet. */
  #outgoing = ''
  /** The number of commands that were written, and have no reply. */
  #unanswered = 0
  #greetings = 0
  /** When a command was first left without an answer; null while Redis answers. */
  #stalledAt: number | null = null
  #problem = 'not connected yet'
  #pauseMs = FIRST_PAUSE_MS
  #timer: NodeJS.Timeout | null = null
  #retry: NodeJS.Timeout | null = null

  constructor(parts: ClientParts) {
    this.#parts = parts
    this.#open()
  }

  /** Resolves with the reply, which may be a failure; rejects with `RedisUnavailable`. */
  call(command: readonly string[]): Promise<RedisReply> {
    if (this.#state === 'down' || this.#state === 'closed') return this.#refuse()
    if (this.#stalledAt !== null || this.#queued.length >= MOST_QUEUED) return this.#refuse()
    const { promise, ...settle } = Promise.withResolvers<RedisReply>()
    const expiresAt = performance.now() + this.#parts.timeoutMs
    const pending = { bytes: encodeCommand(command), expiresAt, settle }
    if (this.#state === 'ready') this.#send(pending)
    else this.#queued.push(pending)
    this.#arm()
    return promise
  }

  /** Opens another connection, because this one cannot be used. */
  reset(problem: string): void {
    if (this.#state === 'ready') this.#fail(problem)
  }

  close(): void {
    this.#fail('closed')
    this.#state = 'closed'
    if (this.#retry !== null) clearTimeout(this.#retry)
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  #refuse(): Promise<never> {
    return Promise.reject(new RedisUnavailable(this.#problem, { wasSent: false }))
  }

  #open(): void {
    this.#retry = null
    this.#state = 'connecting'
    const { socket, ready } = this.#parts.connect()
    const reader = new RespReader()
    const own = (handle: () => void): void => {
      if (this.#socket === socket) handle()
    }
    this.#socket = socket
    socket.setNoDelay(true)
    socket.setKeepAlive(true, KEEPALIVE_MS)
    socket.setTimeout(CONNECT_MS)
    socket.once(ready, () => own(() => this.#greet(socket)))
    socket.on('timeout', () => own(() => this.#fail('connecting took too long')))
    socket.on('error', (error: NodeJS.ErrnoException) => own(() => this.#fail(error.code ?? error.message)))
    socket.on('close', () => own(() => this.#fail('the connection was closed')))
    socket.on('data', (chunk: Buffer) => own(() => this.#receive(reader, chunk)))
  }

  #greet(socket: Socket): void {
    this.#greetings = this.#parts.greeting.length
    for (const command of this.#parts.greeting) socket.write(encodeCommand(command))
    if (this.#greetings === 0) this.#begin()
  }

  #begin(): void {
    this.#state = 'ready'
    this.#pauseMs = FIRST_PAUSE_MS
    this.#socket?.setTimeout(0)
    const queued = this.#queued
    this.#queued = []
    for (const pending of queued) if (pending.settle !== null) this.#send(pending)
  }

  #send(pending: PendingCommand): void {
    if (this.#outgoing === '' && this.#unanswered === 0) setImmediate(() => this.#flush())
    this.#outgoing += pending.bytes
    this.#sent.push(pending)
  }

  /**
   * Writes the commands of one turn of the event loop, or of the time in which the last ones were answered: a write costs
   * more than a command, and a command waits for one round trip at most.
   */
  #flush(): void {
    const bytes = this.#outgoing
    if (bytes === '' || this.#unanswered > 0) return
    this.#outgoing = ''
    this.#unanswered = this.#sent.length
    this.#socket?.write(bytes)
  }

  #receive(reader: RespReader, chunk: Buffer): void {
    let replies
    try {
      replies = reader.push(chunk)
    } catch (error) {
      return this.#fail((error as Error).message)
    }
    for (const reply of replies) {
      if (this.#greetings > 0) {
        if (reply instanceof RedisFailure) return this.#fail(`the connection was refused with ${reply.code}`)
        this.#greetings -= 1
        if (this.#greetings === 0) this.#begin()
        continue
      }
      const pending = this.#sent.shift()
      if (pending === undefined) return this.#fail('an answer came without a question')
      this.#stalledAt = null
      this.#unanswered -= 1
      pending.settle?.resolve(reply)
      pending.settle = null
    }
    this.#flush()
  }

  /** Ends the connection, and with it all commands; tries again after a pause. */
  #fail(problem: string): void {
    if (this.#state === 'closed' || this.#state === 'down') return
    const socket = this.#socket
    this.#socket = null
    this.#outgoing = ''
    this.#unanswered = 0
    this.#state = 'down'
    this.#problem = problem
    this.#stalledAt = null
    this.#greetings = 0
    socket?.on('error', () => {})
    socket?.destroy()
    const [sent, queued] = [this.#sent, this.#queued]
    this.#sent = []
    this.#queued = []
    for (const { settle } of sent) settle?.reject(new RedisUnavailable(problem, { wasSent: true }))
    for (const { settle } of queued) settle?.reject(new RedisUnavailable(problem, { wasSent: false }))
    this.#retry = setTimeout(() => this.#open(), this.#pauseMs)
    this.#pauseMs = Math.min(this.#pauseMs * 2, LAST_PAUSE_MS)
  }

  /** Sets the timer for the command that has waited longest; commands expire in their order. */
  #arm(): void {
    if (this.#timer !== null) return
    const first = this.#sent.find(({ settle }) => settle !== null) ?? this.#queued.find(({ settle }) => settle !== null)
    const at = first?.expiresAt ?? (this.#stalledAt === null ? null : this.#stalledAt + STALL_MS)
    if (at === null) return
    this.#timer = setTimeout(() => this.#expire(), Math.max(1, at - performance.now()))
  }

  #expire(): void {
    this.#timer = null
    const now = performance.now()
    const problem = `no answer within ${this.#parts.timeoutMs} ms`
    const isLate = expireIn(this.#sent, now, new RedisUnavailable(problem, { wasSent: true, isTimeout: true }))
    if (isLate) this.#stalledAt ??= now
    if (expireIn(this.#queued, now, new RedisUnavailable(problem, { wasSent: false, isTimeout: true })) || isLate) {
      this.#problem = problem
    }
    if (this.#stalledAt !== null && now - this.#stalledAt >= STALL_MS) this.#fail(problem)
    this.#arm()
  }
}

/** Rejects the commands whose time is over; returns whether there are any. */
function expireIn(commands: readonly PendingCommand[], now: number, error: RedisUnavailable): boolean {
  let isAny = false
  for (const pending of commands) {
    if (pending.expiresAt > now) break
    if (pending.settle === null) continue
    pending.settle.reject(error)
    pending.settle = null
    isAny = true
  }
  return isAny
}

function encodeCommand(parts: readonly string[]): string {
  let text = `*${parts.length}\r\n`
  for (const part of parts) text += `$${Buffer.byteLength(part)}\r\n${part}\r\n`
  return text
}

const CONNECT_MS = 2_000
const KEEPALIVE_MS = 15_000
const FIRST_PAUSE_MS = 20
const LAST_PAUSE_MS = 1_000
/** A connection that owes an answer for this long is replaced. */
const STALL_MS = 1_000
/** Commands that wait for one connection. */
const MOST_QUEUED = 4_096
