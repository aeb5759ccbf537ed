import type { HeaderBlock } from '@portico/http'
import { passedOn } from '../engine/answer-failure.ts'
import type { Endpoint } from '../engine/endpoint.ts'
import { changeNotices } from '../engine/announce.ts'
import { outwardReplay } from '../engine/outward.ts'
import type { Target } from '../targets/target.ts'
import { INTERNAL_ERROR, rpcError } from '../protocol.ts'
import type { LiveSession } from '../session/live-session.ts'
import type { TargetFailure } from '../transport.ts'
import { ClientAnswer } from './answer.ts'
import { KEEP_ALIVE_MS } from './event-body.ts'
import { type EndpointCallParts, Exchange } from '../engine/exchange.ts'
import { readPosition, type StreamPosition, writePosition } from '../engine/event-ids.ts'
import { TargetStreams } from './target-streams.ts'

/** The stream of a session with the messages that targets send outside of requests, or the rest of a broken stream. */
export class SessionStream {
  readonly #endpoint: Endpoint
  readonly #answer: ClientAnswer
  readonly #exchange: Exchange
  /** The last event id of each target's stream. */
  readonly #ids: Map<string, string>
  readonly #of: StreamPosition['of']
  readonly #streams: TargetStreams

  constructor(endpoint: Endpoint, session: LiveSession, parts: EndpointCallParts) {
    const { isMerged, targets } = endpoint.namer
    const { request, handler } = parts
    const lastEventId = request.headers.get('last-event-id') ?? ''
    const position = isMerged ? readPosition(lastEventId) : null
    this.#of = position?.of ?? (isMerged || lastEventId === '' ? 'session' : 'call')
    this.#ids = new Map(isMerged ? position?.ids : [[targets[0] ?? '', lastEventId]])
    this.#endpoint = endpoint
    this.#answer = new ClientAnswer({
      handler,
      deadlines: endpoint.deadlines,
      keepAliveMs: KEEP_ALIVE_MS,
      resumed: () => this.#streams.resume(),
      cancelled: (cause) => this.close(cause),
    })
    this.#exchange = new Exchange(endpoint, parts, session, this.#answer)
    // The stream of a single target ends for the client when the target ends it, as without a gateway.
    const canBeginAnew = this.#of === 'session'
    const options = { isLasting: canBeginAnew && isMerged, canBeginAnew, positions: this.#ids }
    this.#streams = new TargetStreams(this.#exchange, options, {
      opened: () => this.#answer.open(),
      message: (message, target, eventId) =>
        this.#answer.say(outwardReplay(this.#exchange, target, message), this.#position(target, eventId)),
      mark: (target, eventId, retryMs) => this.#answer.mark(this.#position(target, eventId), retryMs),
      over: (target, failure) => this.#over(target, failure),
    })
  }

  open(): void {
    const told = (): void => {
      if (this.#answer.hasBegun) for (const notice of changeNotices()) this.#answer.say(notice, '')
      // A target that was left out when the session began may have recovered.
      if (this.#endpoint.outages !== null) for (const target of this.#endpoint.targets) this.#streams.join(target)
    }
    if (this.#of === 'session') this.#exchange.whenOver(this.#endpoint.hub.whenChanged(this.#endpoint.backend, told))
    const { session } = this.#exchange
    const { targets, namer } = this.#endpoint
    const concerned = targets.filter(
      (target) => !namer.isMerged || (session.knows(target) && (this.#of === 'session' || this.#ids.has(target.name))),
    )
    if (concerned.length === 0) return this.#refuse(404, 'no stream to resume')
    for (const target of concerned) this.#streams.listen(target)
  }

  close(cause: Error): void {
    this.#answer.drop()
    this.#exchange.release()
    this.#streams.close(cause)
  }

  /** Ends the response once no target has a stream any more. */
  #over(target: Target, failure: TargetFailure | null): void {
    if (!this.#streams.isSilent) return
    // The stream stays open for change notices of the gateway, even if no target has a stream.
    const { isMerged } = this.#endpoint.namer
    if (isMerged && this.#of === 'session' && failure?.code === 'unsupported') return this.#answer.open()
    this.#exchange.release()
    if (failure === null || this.#answer.hasBegun) return this.#answer.end()
    if (failure.code === 'unsupported') return this.#refuse(405, 'no target supports a stream of server messages')
    if (failure.code === 'session_lost') return this.#refuse(404, 'Session not found')
    const more = isMerged || failure.headers === undefined ? null : passedOn(failure.headers)
    this.#refuse(failure.status ?? 502, `target ${target.name}: ${failure.message}`, more)
  }

  #refuse(status: number, text: string, more: HeaderBlock | null = null): void {
    this.#exchange.record.fail('error', INTERNAL_ERROR, text)
    this.#answer.whole(status, 'application/json', rpcError(null, INTERNAL_ERROR, text).bytes, more)
  }

  #position(target: Target, eventId: string): string {
    if (eventId === '' || !this.#endpoint.namer.isMerged) return eventId
    this.#ids.set(target.name, eventId)
    return writePosition({ of: this.#of, ids: this.#ids })
  }
}
