import { emptySource, sourceOf } from '../../../net/body.ts'
import { HeaderBlock } from '../../../net/header-block.ts'
import type { Hub } from '../../hub/hub.ts'
import type { RpcMessage } from '../../message.ts'
import { SessionStreams } from '../../remote/session-streams.ts'
import type { AnswerSink, Caller, LinkCall, TargetFailure, TargetLink, TargetTransport } from '../transport.ts'
import { encodeHeaderText, mirroredName } from '../../header-text.ts'
import { isSessionless } from '../../revisions.ts'
import { CallerStream } from './caller-stream.ts'
import { StreamableCall, type StreamableServices } from './call.ts'

/** A target that is spoken to by POST, and answers in JSON or in events. All that a session is stands in its id. */
export function streamableTransport(services: StreamableServices, hub: Hub): TargetTransport {
  const streams: SessionStreams = new SessionStreams({
    hub,
    addressOf: (session) => `stream:${session}:${services.connection.key}`,
    make: (session, closed) =>
      new CallerStream(
        (caller, answer) => new StreamableLink(session, services, streams).listen('', caller, answer),
        closed,
      ),
  })
  return {
    isPortable: true,
    link: (session) => new StreamableLink(session.target, services, streams),
  }
}

/** One session with the target. */
class StreamableLink implements TargetLink {
  readonly #services: StreamableServices
  readonly #streams: SessionStreams
  #session: string

  constructor(session: string, services: StreamableServices, streams: SessionStreams) {
    this.#session = session
    this.#services = services
    this.#streams = streams
  }

  get session(): string {
    return this.#session
  }

  request(message: RpcMessage, caller: Caller, answer: AnswerSink): LinkCall {
    const call = this.#post(message, caller, answer)
    call.awaits = message.id
    if (message.method === 'initialize') call.began = (session) => (this.#session = session)
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
    return new StreamableCall(request, caller, answer, this.#services, this.#session !== '').start()
  }

  attend(request: RpcMessage | null, caller: Caller, answer: AnswerSink, ready: () => void): LinkCall {
    let attending: LinkCall | null = null
    let isWanted = true
    this.#streams.findOrOpen(this.#session, caller, (stream) => {
      if (!isWanted) return
      const again = (failure: TargetFailure): void => {
        // Another worker was quicker, and a session has one such stream.
        if (failure.status !== CONFLICT) answer.failed(failure)
        else attending = this.#streams.find(this.#session).attend(request, answer, ready)
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
    // Whether the target can forget a session on request is its own affair.
    const nobody: AnswerSink = { message: () => true, closed() {}, failed() {} }
    new StreamableCall(request, caller, nobody, this.#services, false).start()
    this.#session = ''
  }

  #post(message: RpcMessage, caller: Caller, answer: AnswerSink): StreamableCall {
    const headers = this.#headers(caller)
    headers.set('accept', 'application/json, text/event-stream')
    headers.set('content-type', 'application/json')
    if (isSessionless(caller.version)) mirror(message, headers)
    const request = { method: 'POST', headers, body: sourceOf(message.bytes) }
    return new StreamableCall(request, caller, answer, this.#services, this.#session !== '')
  }

  #headers(caller: Caller): HeaderBlock {
    const headers = caller.headers.clone()
    if (this.#session !== '') headers.set('mcp-session-id', this.#session)
    if (caller.version !== '') headers.set('mcp-protocol-version', caller.version)
    return headers
  }
}

/** Headers repeat what the body says: the target holds one against the other. */
function mirror(message: RpcMessage, headers: HeaderBlock): void {
  headers.set('mcp-method', message.method)
  const name = mirroredName(message)
  if (name !== null) headers.set('mcp-name', encodeHeaderText(name))
  else headers.remove('mcp-name')
}

const CONFLICT = 409
