import { Conversation, type Waiter } from '../../conversation.ts'
import { requestId, makeMessage, type RpcMessage } from '../../protocol.ts'
import type { TargetFailure } from '../../transport.ts'
import { Backoff, endOfProcess } from './backoff.ts'
import { Beginning } from './beginning.ts'
import type { Child, ChildEvents } from './child.ts'
import { Flow } from '../../flow.ts'
import type { RemoteWaiter } from '../../remote/remote-waiter.ts'
import { isGreeting, type TargetSession, isSelfContained, STUCK, TAKEN } from './target-session.ts'

/** Starts a process, or returns why it cannot; `speaksFirst` is the parameter of `Child`. */
type StartChild = (events: ChildEvents, speaksFirst: boolean) => Child | TargetFailure

/** The link of a session to a process of its own. */
export class OwnProcess implements TargetSession {
  usedAt = performance.now()
  readonly #start: StartChild
  readonly #conversation = new Conversation()
  readonly #backoff = new Backoff()
  readonly #flow = new Flow({
    maxBytes: MAX_HELD_BYTES,
    full: () => this.#child?.pause(),
    drained: () => this.#child?.resume(),
  })
  #child: Child | null = null
  #beginning: Beginning | null = null
  #hasToldInitialized = false

  constructor(start: StartChild) {
    this.#start = start
  }

  get isQuiet(): boolean {
    return this.#conversation.isQuiet
  }

  get isIdle(): boolean {
    return !this.#conversation.hasRequests
  }

  /** Whether the object can be dropped: no process, no waiters, and no restart delay. */
  get isEmpty(): boolean {
    return this.#child === null && this.isQuiet && this.#backoff.isOver(performance.now())
  }

  request(message: RpcMessage, waiter: RemoteWaiter): void {
    this.usedAt = performance.now()
    const failure = this.#prepare(message)
    if (failure !== null) return waiter.failed(failure)
    waiter.flow = this.#flow
    if (message.method === 'initialize') this.#initialize(message, waiter)
    else this.#send(message, waiter)
  }

  tell(message: RpcMessage, done: (failure: TargetFailure | null) => void): void {
    this.usedAt = performance.now()
    if (this.#child === null) return done(LOST)
    if (message.method === 'notifications/initialized') {
      // Two workers may have initialized the process at the same time.
      if (this.#hasToldInitialized) return done(null)
      this.#hasToldInitialized = true
    }
    if (!this.#child.write(message.bytes, (isWritten) => done(isWritten ? null : BROKEN))) done(STUCK)
  }

  listen(waiter: RemoteWaiter): void {
    this.usedAt = performance.now()
    waiter.flow = this.#flow
    this.#conversation.listen(waiter)
  }

  forget(waiter: RemoteWaiter): void {
    this.usedAt = performance.now()
    this.#beginning?.forget(waiter)
    this.#conversation.forget(waiter)
    waiter.drop()
  }

  end(why: string): void {
    const child = this.#child
    this.#child = null
    this.#beginning = null
    this.#conversation.close({ code: 'broken', message: why })
    child?.stop()
  }

  /** Starts a process if there is none and the message can begin a session; returns why the message cannot be sent. */
  #prepare(message: RpcMessage): TargetFailure | null {
    if (this.#child !== null && (this.#beginning !== null || isSelfContained(message))) return null
    const refusal = this.#child === null ? this.#backoff.refusal(performance.now()) : null
    if (refusal !== null) return refusal
    if (!isSelfContained(message)) return LOST
    const events: ChildEvents = {
      said: (said) => this.#said(said),
      sentUnusable: (id, failure) => this.#conversation.reject(id, failure),
      ended: (reason, wasStarted) => {
        if (child === this.#child) this.#ended(this.#child, reason, wasStarted)
      },
    }
    const child = this.#start(events, isGreeting(message))
    if ('code' in child) return child
    this.#child = child
    return null
  }

  /** Sends `initialize` to the process once, even if several workers send it. */
  #initialize(message: RpcMessage, waiter: RemoteWaiter): void {
    const params = JSON.stringify(message.value.params)
    if (this.#beginning === null) {
      this.#beginning = new Beginning(params, () => (this.#beginning = null))
      this.#beginning.join(requestId(message), waiter)
      this.#send(message, this.#beginning)
    } else if (this.#beginning.params === params) {
      this.#beginning.join(requestId(message), waiter)
    } else {
      this.#send(message, waiter)
    }
  }

  #send(message: RpcMessage, waiter: Waiter): void {
    if (!this.#conversation.expect(message, waiter)) return waiter.failed(TAKEN)
    if (this.#child?.write(message.bytes, () => {}) === true) return
    this.#conversation.forget(waiter)
    waiter.failed(STUCK)
  }

  #said(message: RpcMessage): void {
    if (message.kind === 'request' && message.method === 'ping' && !this.#conversation.hasAudience) {
      const pong = makeMessage({ jsonrpc: '2.0', id: message.id, result: {} })
      this.#child?.write(pong.bytes, () => {})
      return
    }
    this.#conversation.take(message)
  }

  #ended(child: Child, reason: string, wasStarted: boolean): void {
    this.#child = null
    this.#beginning = null
    this.#hasToldInitialized = false
    const failure = endOfProcess(reason, wasStarted)
    this.#backoff.died(child.startedAt, performance.now(), failure)
    this.#conversation.fail(failure)
  }
}

const LOST: TargetFailure = { code: 'session_lost', cause: 'process_ended', message: 'its process is not running' }
const BROKEN: TargetFailure = { code: 'broken', cause: 'process_ended', message: 'its process ended' }
const MAX_HELD_BYTES = 1024 * 1024
