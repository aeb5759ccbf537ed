import { type JsonObject, objectAt, textAt } from '@portico/http/json'
import type { Logger } from '../../../telemetry/log/logger.ts'
import { VERSION } from '../../../version.ts'
import { withId, withResult } from '../../edit.ts'
import {
  requestId,
  makeMessage,
  METHOD_NOT_FOUND,
  type RpcId,
  type RpcMessage,
  isKnownRevision,
  LATEST_WITH_SESSIONS,
} from '../../protocol.ts'
import type { TargetFailure } from '../../transport.ts'
import type { ProcessSpec } from '../../hub.ts'
import { Backoff, endOfProcess } from './backoff.ts'
import { Child, type ChildEvents } from './child.ts'
import { type ProcessTarget, RETIRE_MS, RETIRE_SWEEP_MS, Sweeper, sweepEveryMs } from './process-target.ts'
import { isGreeting, isSelfContained, STUCK } from './target-session.ts'
import { SharedCalls } from './shared-calls.ts'
import { SharedSession } from './shared-session.ts'
import { Subscribers } from './subscribers.ts'

/**
 * A target whose single process serves all sessions. The gateway initializes the process once, and gives every request a
 * unique id and progress token, so that no session gets a message for another. Messages that name no session are dropped.
 */
export class SharedTarget implements ProcessTarget {
  readonly #spec: ProcessSpec
  readonly #log: Logger
  readonly #sessions = new Map<string, SharedSession>()
  readonly #calls = new SharedCalls<SharedSession>()
  readonly #subscribers = new Subscribers<SharedSession>()
  readonly #backoff = new Backoff()
  readonly #children = new Set<Child>()
  readonly #sweeper: Sweeper
  #child: Child | null = null
  /** The response to the gateway's own `initialize`. */
  #begun: RpcMessage | null = null
  #beginLimit: NodeJS.Timeout | null = null
  #whenBegun: ((failure: TargetFailure | null) => void)[] = []
  #usedAt = 0
  #retiredAt = Infinity

  constructor(spec: ProcessSpec, log: Logger) {
    this.#spec = spec
    this.#log = log
    this.#sweeper = new Sweeper(sweepEveryMs(spec.idleTimeoutMs), () => this.#sweep())
  }

  get isEmpty(): boolean {
    return this.#sessions.size === 0 && this.#children.size === 0
  }

  sessionLink(session: string): SharedSession {
    let owner = this.#sessions.get(session)
    if (owner === undefined) {
      owner = new SharedSession(this, this.#spec.maxMessageBytes)
      this.#sessions.set(session, owner)
      this.#sweeper.start()
    }
    return owner
  }

  /** Sends a request of a session; `failed` is called when the request could not be sent. */
  ask(owner: SharedSession, message: RpcMessage, failed: (failure: TargetFailure) => void): void {
    this.#usedAt = performance.now()
    const { method, value } = message
    const uri = textAt(objectAt(value, 'params'), 'uri') ?? ''
    if (method === 'logging/setLevel') return owner.answer(message, {})
    if (method === 'resources/unsubscribe' && !this.#subscribers.remove(owner, uri)) return owner.answer(message, {})
    if (method === 'resources/subscribe' && !this.#subscribers.add(owner, uri)) return failed(FULL)
    this.#whenReady(message, (failure) => {
      if (failure !== null) return failed(failure)
      if (method === 'initialize') return owner.take(this.#beginning(message))
      if (!this.#send(owner, message)) failed(STUCK)
    })
  }

  /** Forwards a notification of a session; responses, and notifications about the session itself, are dropped. */
  tell(owner: SharedSession, message: RpcMessage, done: (failure: TargetFailure | null) => void): void {
    const passing = this.#passing(owner, message)
    if (passing === null || this.#child === null) return done(null)
    if (!this.#child.write(passing.bytes, (isWritten) => done(isWritten ? null : BROKEN))) done(STUCK)
  }

  /** Forgets a request whose client has left. */
  abandon(owner: SharedSession, id: RpcId): void {
    this.#calls.remove(owner, id)
  }

  end(session: string): void {
    this.#end(session, 'the session has ended')
  }

  retire(): void {
    this.#retiredAt = performance.now()
    this.#sweeper.hurry(RETIRE_SWEEP_MS)
  }

  async close(): Promise<void> {
    this.#sweeper.stop()
    for (const session of [...this.#sessions.keys()]) this.#end(session, 'the gateway ends')
    this.#stop()
    await Promise.all([...this.#children].map((child) => child.gone))
  }

  kill(): void {
    for (const child of this.#children) child.kill()
  }

  /** Starts the process if needed, and initializes it if the message requires that. */
  #whenReady(message: RpcMessage, done: (failure: TargetFailure | null) => void): void {
    const isStarted = this.#child !== null
    const child = this.#child ?? this.#start(!isSelfContained(message) || isGreeting(message))
    if ('code' in child) return done(child)
    const needsBeginning = message.method === 'initialize' || !isSelfContained(message)
    if (!needsBeginning || this.#begun !== null) return done(null)
    this.#whenBegun.push(done)
    if (isStarted && this.#whenBegun.length > 1) return
    this.#beginLimit = setTimeout(() => this.#tooSlow(), this.#spec.beginTimeoutMs).unref()
    if (!child.write(INITIALIZE.bytes, () => {})) this.#haveBegun(STUCK)
  }

  #start(speaksFirst: boolean): Child | TargetFailure {
    const refusal = this.#backoff.refusal(performance.now())
    if (refusal !== null) return refusal
    const events: ChildEvents = {
      said: (message) => this.#said(message),
      sentUnusable: (id, failure) => this.#sentUnusable(id, failure),
      ended: (reason, wasStarted) => {
        if (child === this.#child) this.#ended(child, reason, wasStarted)
      },
    }
    const child = new Child(this.#spec, this.#log, events, speaksFirst)
    this.#child = child
    this.#children.add(child)
    void child.gone.then(() => this.#children.delete(child))
    return child
  }

  #send(owner: SharedSession, message: RpcMessage): boolean {
    const passing = this.#calls.add(owner, message)
    if (this.#child?.write(passing.bytes, () => {}) === true) return true
    if (message.id !== undefined && message.id !== null) this.#calls.remove(owner, message.id)
    return false
  }

  #passing(owner: SharedSession, message: RpcMessage): RpcMessage | null {
    if (message.kind === 'response' || OF_SESSIONS.has(message.method)) return null
    return message.method === 'notifications/cancelled' ? this.#calls.cancellation(owner, message) : message
  }

  /** Returns the response to a session's `initialize`: the requested revision, unless it is newer than the negotiated one. */
  #beginning(message: RpcMessage): RpcMessage {
    const asked = textAt(objectAt(message.value, 'params'), 'protocolVersion') ?? ''
    const begun = this.#begun
    if (begun === null) throw new Error('the process has not been initialized')
    const agreed = textAt(objectAt(begun.value, 'result'), 'protocolVersion') ?? ''
    const protocolVersion = isKnownRevision(asked) && asked < agreed ? asked : agreed
    return withResult(withId(begun, requestId(message)), { protocolVersion })
  }

  #said(message: RpcMessage): void {
    if (message.kind === 'response') return this.#responded(message)
    if (message.kind === 'request') return this.#refuse(message)
    const own = this.#calls.notification(message)
    if (own !== null) return own.owner.take(own.message)
    if (message.method === 'notifications/resources/updated') {
      const uri = textAt(objectAt(message.value, 'params'), 'uri') ?? ''
      for (const owner of this.#subscribers.of(uri)) owner.take(message)
    } else if (/^notifications\/\w+\/list_changed$/.test(message.method)) {
      for (const owner of this.#sessions.values()) owner.take(message)
    } else {
      this.#log.debug('message of a shared process dropped: it names no session', {
        target: this.#spec.name,
        method: message.method,
      })
    }
  }

  #sentUnusable(id: RpcId | null, failure: TargetFailure): void {
    if (id === INITIALIZE_ID) return this.#haveBegun(failure)
    const call = this.#calls.take(id)
    if (call !== null) return call.owner.reject(call.id, failure)
    for (const owner of this.#sessions.values()) owner.fail(failure)
  }

  #responded(message: RpcMessage): void {
    if (message.id === INITIALIZE_ID) return this.#answeredBeginning(message)
    const own = this.#calls.response(message)
    own?.owner.take(own.message)
  }

  #answeredBeginning(message: RpcMessage): void {
    if (message.value.error !== undefined) {
      this.#stop()
      return this.#haveBegun(REFUSED)
    }
    this.#begun = message
    this.#child?.write(INITIALIZED.bytes, () => {})
    for (const uri of this.#subscribers.uris()) this.#write('resources/subscribe', uri)
    this.#haveBegun(null)
  }

  /** Stops a process that did not answer `initialize` in time, so that the next request starts another one. */
  #tooSlow(): void {
    this.#stop()
    this.#haveBegun(SLOW)
  }

  #haveBegun(failure: TargetFailure | null): void {
    if (this.#beginLimit !== null) clearTimeout(this.#beginLimit)
    this.#beginLimit = null
    const waiting = this.#whenBegun
    this.#whenBegun = []
    for (const done of waiting) done(failure)
  }

  /** Refuses a request of the process to a client, because it names no session; pings are answered. */
  #refuse({ id, method }: RpcMessage): void {
    const answer: JsonObject =
      method === 'ping'
        ? { result: {} }
        : { error: { code: METHOD_NOT_FOUND, message: 'A shared process cannot send requests to clients' } }
    this.#child?.write(makeMessage({ jsonrpc: '2.0', id, ...answer }).bytes, () => {})
  }

  /** Sends a request of the gateway itself, and ignores the response. */
  #write(method: string, uri: string): void {
    this.#child?.write(
      makeMessage({ jsonrpc: '2.0', id: this.#calls.newNumber(), method, params: { uri } }).bytes,
      () => {},
    )
  }

  #ended(child: Child, reason: string, wasStarted: boolean): void {
    this.#forgetChild()
    const failure = endOfProcess(reason, wasStarted)
    this.#backoff.died(child.startedAt, performance.now(), failure)
    this.#haveBegun(failure)
    for (const owner of this.#sessions.values()) owner.fail(failure)
  }

  #stop(): void {
    const child = this.#child
    this.#forgetChild()
    child?.stop()
  }

  #forgetChild(): void {
    this.#child = null
    this.#begun = null
    this.#calls.clear()
  }

  #end(session: string, why: string): void {
    const owner = this.#sessions.get(session)
    if (owner === undefined) return
    this.#sessions.delete(session)
    this.#calls.removeAll(owner)
    for (const uri of this.#subscribers.removeAll(owner)) {
      if (this.#begun !== null) this.#write('resources/unsubscribe', uri)
    }
    owner.end(why)
  }

  #sweep(): boolean {
    const now = performance.now()
    const isRetired = this.#retiredAt !== Infinity
    for (const [session, owner] of this.#sessions) {
      const isDone = isRetired && (owner.isIdle || now - this.#retiredAt > RETIRE_MS)
      if (isDone) this.#end(session, 'the config has changed')
      else if (owner.isQuiet && now - owner.usedAt >= this.#spec.idleTimeoutMs)
        this.#end(session, 'the session was idle')
    }
    if (this.#sessions.size === 0 && (isRetired || now - this.#usedAt >= this.#spec.idleTimeoutMs)) this.#stop()
    return this.#sessions.size > 0 || this.#child !== null
  }
}

/** The numbers of calls begin at 1. */
const INITIALIZE_ID = 0
/** Declares no capabilities: requests of the process to clients could not be assigned to a session. */
const INITIALIZE = makeMessage({
  jsonrpc: '2.0',
  id: INITIALIZE_ID,
  method: 'initialize',
  params: {
    protocolVersion: LATEST_WITH_SESSIONS,
    capabilities: {},
    clientInfo: { name: 'portico', version: VERSION },
  },
})
const INITIALIZED = makeMessage({ jsonrpc: '2.0', method: 'notifications/initialized' })
const OF_SESSIONS = new Set(['notifications/initialized', 'notifications/roots/list_changed', 'notifications/progress'])
const BROKEN: TargetFailure = { code: 'broken', cause: 'process_ended', message: 'its process ended' }
const FULL: TargetFailure = { code: 'unavailable', message: 'its sessions have too many subscriptions' }
const SLOW: TargetFailure = {
  code: 'unavailable',
  cause: 'timeout',
  message: 'it did not answer `initialize` in time',
}
const REFUSED: TargetFailure = { code: 'bad_answer', message: 'it refused `initialize`' }
