import { emptySource, HeaderBlock, sourceOf } from '@portico/http'
import type { Hub } from '../../hub.ts'
import { type RpcMessage, isSessionless } from '../../protocol.ts'
import { SessionStreams } from '../../remote/session-streams.ts'
import type { AnswerSink, Caller, LinkCall, TargetFailure, TargetLink, TargetTransport } from '../../transport.ts'
import { encodeHeaderText, mirroredName } from '../../merge/header-text.ts'
import { printAtReplica, readAtReplica, toReplica, watchingReplica } from '../replica.ts'
import { CallerStream } from './caller-stream.ts'
import { StreamableCall, type StreamableServices } from './call.ts'

/** Creates the transport of a target that takes POST requests and responds with JSON or SSE. Its sessions are portable. */
export function streamableTransport(services: StreamableServices, hub: Hub): TargetTransport {
  const streams: SessionStreams = new SessionStreams({
    hub,
    addressOf: (session) => `stream:${session}:${services.connection.key}`,
    make: (session, closed) =>
      new CallerStream(
        (caller, answer) => new StreamableLink(session, true, services, streams).listen('', caller, answer),
        closed,
      ),
  })
  return {
    isPortable: true,
    link: ({ target, isPassing = false }) => new StreamableLink(target, isPassing, services, streams),
  }
}

/** The link of one session to the target. */
class StreamableLink implements TargetLink {
  readonly #services: StreamableServices
  readonly #streams: SessionStreams
  readonly #isPassing: boolean
  #session: string
  /** The replica that the session began with; empty without replicas. */
  #endpoint: string

  constructor(session: string, isPassing: boolean, services: StreamableServices, streams: SessionStreams) {
    const { endpoint, text } = services.hasReplicas ? readAtReplica(session) : { endpoint: '', text: session }
    this.#endpoint = endpoint
    this.#session = text
    this.#isPassing = isPassing
    this.#services = services
    this.#streams = streams
  }

  get session(): string {
    // A replica may keep the state of a session although it gave out no session id.
    const isPinned = this.#endpoint !== '' && (this.#session !== '' || !this.#isPassing)
    return isPinned ? printAtReplica({ endpoint: this.#endpoint, text: this.#session }) : this.#session
  }

  request(message: RpcMessage, caller: Caller, answer: AnswerSink): LinkCall {
    const isBeginning = message.method === 'initialize'
    let endpoint = ''
    const asked =
      isBeginning && this.#services.hasReplicas ? watchingReplica(caller, (name) => (endpoint = name)) : caller
    const call = this.#post(message, asked, answer)
    call.awaits = message.id
    if (isBeginning) {
      call.began = (session) => {
        this.#session = session
        if (session !== '' || !this.#isPassing) this.#endpoint = endpoint
      }
    }
    return call.start()
  }

  tell(message: RpcMessage, caller: Caller, done: (failure: TargetFailure | null) => void): LinkCall {
    const call = this.#post(message, caller, {
      message: () => true,
      closed: () => done(null),
      failed: done,
    })
    return call.start()
  }

  listen(lastEventId: string, caller: Caller, answer: AnswerSink): LinkCall {
    const headers = this.#headers(caller)
    headers.set('accept', 'text/event-stream')
    if (lastEventId !== '') headers.set('last-event-id', lastEventId)
    const request = { method: 'GET', headers, body: emptySource }
    return this.#call(request, caller, answer, this.#session !== '').start()
  }

  attend(request: RpcMessage | null, caller: Caller, answer: AnswerSink, ready: () => void): LinkCall {
    let attending: LinkCall | null = null
    let isWanted = true
    this.#streams.findOrOpen(this.session, caller, (stream) => {
      if (!isWanted) return
      const again = (failure: TargetFailure): void => {
        // Another worker has opened the stream first: a session has only one.
        if (failure.status !== CONFLICT) answer.failed(failure)
        else attending = this.#streams.find(this.session).attend(request, answer, ready)
      }
      const first = { message: answer.message.bind(answer), closed: answer.closed.bind(answer), failed: again }
      attending = stream.attend(request, first, ready)
    })
    return {
      cancel(cause) {
        isWanted = false
        attending?.cancel(cause)
      },
      resume: () => attending?.resume(),
    }
  }

  end(caller: Caller): void {
    if (this.#session === '') return
    const request = { method: 'DELETE', headers: this.#headers(caller), body: emptySource }
    // The result is ignored: targets may not support the end of a session.
    const nobody: AnswerSink = { message: () => true, closed() {}, failed() {} }
    this.#call(request, caller, nobody, false).start()
    this.#session = ''
  }

  #post(message: RpcMessage, caller: Caller, answer: AnswerSink): StreamableCall {
    const headers = this.#headers(caller)
    headers.set('accept', 'application/json, text/event-stream')
    headers.set('content-type', 'application/json')
    if (isSessionless(caller.version)) mirror(message, headers)
    const request = { method: 'POST', headers, body: sourceOf(message.bytes) }
    return this.#call(request, caller, answer, this.#session !== '')
  }

  #call(
    request: ConstructorParameters<typeof StreamableCall>[0],
    caller: Caller,
    answer: AnswerSink,
    hasSession: boolean,
  ): StreamableCall {
    const at = this.#endpoint === '' ? caller : toReplica(caller, this.#endpoint)
    return new StreamableCall(request, at, answer, this.#services, hasSession)
  }

  #headers(caller: Caller): HeaderBlock {
    const headers = caller.headers.clone()
    if (this.#session !== '') headers.set('mcp-session-id', this.#session)
    if (caller.version !== '') headers.set('mcp-protocol-version', caller.version)
    return headers
  }
}

/** Repeats the method and name of the body in headers, as revisions without sessions require. */
function mirror(message: RpcMessage, headers: HeaderBlock): void {
  headers.set('mcp-method', message.method)
  const name = mirroredName(message)
  if (name !== null) headers.set('mcp-name', encodeHeaderText(name))
  else headers.remove('mcp-name')
}

const CONFLICT = 409
