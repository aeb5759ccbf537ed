import { type JsonObject, objectAt, textAt } from '@portico/http/json'
import type { Logger } from '../../../telemetry/log/logger.ts'
import { VERSION } from '../../../version.ts'
import { withId, withResult } from '../../edit.ts'
import { requestId, makeMessage, METHOD_NOT_FOUND, type RpcId, type RpcMessage } from '../../message.ts'
import { isKnownRevision, LATEST_WITH_SESSIONS } from '../../revisions.ts'
import type { TargetFailure } from '../../transport.ts'
import type { ProcessSpec } from '../../hub.ts'
import { Backoff } from './backoff.ts'
import { Child, type ChildEvents } from './child.ts'
import { type ProcessTarget, RETIRE_MS, RETIRE_SWEEP_MS, Sweeper, sweepEveryMs } from './process-target.ts'
import { isGreeting, standsAlone, STUCK } from './seat.ts'
import { SharedCalls } from './shared-calls.ts'
import { SharedSeat } from './shared-seat.ts'
import { Subscribers } from './subscribers.ts'

/**
 * A target whose one process serves all sessions. The gateway begins with it once, and gives every request an id and a
 * progress token of its own, so that no session gets what is meant for another; what cannot be told apart reaches none.
 */
export class SharedTarget implements ProcessTarget {
  readonly #spec: ProcessSpec
  readonly #log: Logger
  readonly #seats = new Map<string, SharedSeat>()
  readonly #calls = new SharedCalls<SharedSeat>()
  readonly #subscribers = new Subscribers<SharedSeat>()
  readonly #backoff = new Backoff()
  readonly #children = new Set<Child>()
  readonly #sweeper: Sweeper
  #child: Child | null = null
  /** The answer to the gateway's own `initialize`. */
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
    return this.#seats.size === 0 && this.#children.size === 0
  }

  seat(session: string): SharedSeat {
    let seat = this.#seats.get(session)
    if (seat === undefined) {
      seat = new SharedSeat(this, this.#spec.maxMessageBytes)
      this.#seats.set(session, seat)
      this.#sweeper.start()
    }
    return seat
  }

  /** Sends a request of a session; `failed` is told when it could not be sent. */
  ask(seat: SharedSeat, message: RpcMessage, failed: (failure: TargetFailure) => void): void {
    this.#usedAt = performance.now()
    const { method, value } = message
    const uri = textAt(objectAt(value, 'params'), 'uri') ?? ''
    if (method === 'logging/setLevel') return seat.answer(message, {})
    if (method === 'resources/unsubscribe' && !this.#subscribers.remove(seat, uri)) return seat.answer(message, {})
    if (method === 'resources/subscribe' && !this.#subscribers.add(seat, uri)) return failed(FULL)
    this.#whenReady(message, (failure) => {
      if (failure !== null) return failed(failure)
      if (method === 'initialize') return seat.take(this.#beginning(message))
      if (!this.#send(seat, message)) failed(STUCK)
    })
  }

  /** What a session tells the process; what is about the session itself means nothing to it. */
  tell(seat: SharedSeat, message: RpcMessage, done: (failure: TargetFailure | null) => void): void {
    const passing = this.#passing(seat, message)
    if (passing === null || this.#child === null) return done(null)
    if (!this.#child.write(passing.bytes, (isWritten) => done(isWritten ? null : BROKEN))) done(STUCK)
  }

  /** Nobody waits for the answer any more. */
  abandon(seat: SharedSeat, id: RpcId): void {
    this.#calls.remove(seat, id)
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
    for (const session of [...this.#seats.keys()]) this.#end(session, 'the gateway ends')
    this.#stop()
    await Promise.all([...this.#children].map((child) => child.gone))
  }

  kill(): void {
    for (const child of this.#children) child.kill()
  }

  /** Starts the process where there is none, and begins with it where the message takes that for granted. */
  #whenReady(message: RpcMessage, done: (failure: TargetFailure | null) => void): void {
    const isStarted = this.#child !== null
    const child = this.#child ?? this.#start(!standsAlone(message) || isGreeting(message))
    if ('code' in child) return done(child)
    const needsBeginning = message.method === 'initialize' || !standsAlone(message)
    if (!needsBeginning || this.#begun !== null) return done(null)
    this.#whenBegun.push(done)
    if (isStarted && this.#whenBegun.length > 1) return
    this.#beginLimit = setTimeout(() => this.#tooSlow(), this.#spec.beginTimeoutMs).unref()
    if (!child.write(INITIALIZE.bytes, () => {})) this.#haveBegun(STUCK)
  }

  #start(speaksFirst: boolean): Child | TargetFailure {
    const refusal = this.#backoff.refusal(performance.now())
    if (refusal !== null) return { code: 'unavailable', message: refusal }
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

  #send(seat: SharedSeat, message: RpcMessage): boolean {
    const passing = this.#calls.add(seat, message)
    if (this.#child?.write(passing.bytes, () => {}) === true) return true
    if (message.id !== undefined && message.id !== null) this.#calls.remove(seat, message.id)
    return false
  }

  #passing(seat: SharedSeat, message: RpcMessage): RpcMessage | null {
    if (message.kind === 'response' || OF_SESSIONS.has(message.method)) return null
    return message.method === 'notifications/cancelled' ? this.#calls.cancellation(seat, message) : message
  }

  /** What a session hears when it begins: a version that it asked for and that is not newer than the agreed one. */
  #beginning(message: RpcMessage): RpcMessage {
    const asked = textAt(objectAt(message.value, 'params'), 'protocolVersion') ?? ''
    const begun = this.#begun
    if (begun === null) throw new Error('the program has not begun')
    const agreed = textAt(objectAt(begun.value, 'result'), 'protocolVersion') ?? ''
    const protocolVersion = isKnownRevision(asked) && asked < agreed ? asked : agreed
    return withResult(withId(begun, requestId(message)), { protocolVersion })
  }

  #said(message: RpcMessage): void {
    if (message.kind === 'response') return this.#responded(message)
    if (message.kind === 'request') return this.#refuse(message)
    const own = this.#calls.notification(message)
    if (own !== null) return own.seat.take(own.message)
    if (message.method === 'notifications/resources/updated') {
      const uri = textAt(objectAt(message.value, 'params'), 'uri') ?? ''
      for (const seat of this.#subscribers.of(uri)) seat.take(message)
    } else if (/^notifications\/\w+\/list_changed$/.test(message.method)) {
      for (const seat of this.#seats.values()) seat.take(message)
    } else {
      this.#log.debug('nobody gets a message of a shared process', { target: this.#spec.name, method: message.method })
    }
  }

  #sentUnusable(id: RpcId | null, failure: TargetFailure): void {
    if (id === INITIALIZE_ID) return this.#haveBegun(failure)
    const call = this.#calls.take(id)
    if (call !== null) return call.seat.reject(call.id, failure)
    for (const seat of this.#seats.values()) seat.fail(failure)
  }

  #responded(message: RpcMessage): void {
    if (message.id === INITIALIZE_ID) return this.#answeredBeginning(message)
    const own = this.#calls.response(message)
    own?.seat.take(own.message)
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

  /** Another one may do better. */
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

  /** Nobody can say which session it is for. */
  #refuse({ id, method }: RpcMessage): void {
    const answer: JsonObject =
      method === 'ping'
        ? { result: {} }
        : { error: { code: METHOD_NOT_FOUND, message: 'A shared process cannot ask clients' } }
    this.#child?.write(makeMessage({ jsonrpc: '2.0', id, ...answer }).bytes, () => {})
  }

  /** On account of the gateway: the answer is of no use. */
  #write(method: string, uri: string): void {
    this.#child?.write(
      makeMessage({ jsonrpc: '2.0', id: this.#calls.newNumber(), method, params: { uri } }).bytes,
      () => {},
    )
  }

  #ended(child: Child, reason: string, wasStarted: boolean): void {
    this.#forgetChild()
    this.#backoff.died(child.startedAt, performance.now(), reason)
    const failure: TargetFailure = { code: wasStarted ? 'broken' : 'unavailable', message: reason }
    this.#haveBegun(failure)
    for (const seat of this.#seats.values()) seat.fail(failure)
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
    const seat = this.#seats.get(session)
    if (seat === undefined) return
    this.#seats.delete(session)
    this.#calls.removeAll(seat)
    for (const uri of this.#subscribers.removeAll(seat)) {
      if (this.#begun !== null) this.#write('resources/unsubscribe', uri)
    }
    seat.end(why)
  }

  #sweep(): boolean {
    const now = performance.now()
    const isRetired = this.#retiredAt !== Infinity
    for (const [session, seat] of this.#seats) {
      const isDone = isRetired && (seat.isIdle || now - this.#retiredAt > RETIRE_MS)
      if (isDone) this.#end(session, 'the config has changed')
      else if (seat.isQuiet && now - seat.usedAt >= this.#spec.idleTimeoutMs) this.#end(session, 'the session was idle')
    }
    if (this.#seats.size === 0 && (isRetired || now - this.#usedAt >= this.#spec.idleTimeoutMs)) this.#stop()
    return this.#seats.size > 0 || this.#child !== null
  }
}

/** The numbers of calls begin behind it. */
const INITIALIZE_ID = 0
/** Without capabilities: what the process would ask a client cannot be told apart. */
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
const BROKEN: TargetFailure = { code: 'broken', message: 'its process ended' }
const FULL: TargetFailure = { code: 'unavailable', message: 'its sessions have too many subscriptions' }
const SLOW: TargetFailure = { code: 'unavailable', message: 'it did not answer `initialize` in time' }
const REFUSED: TargetFailure = { code: 'bad_answer', message: 'it refused to begin' }
