import type { RpcMessage } from '../../protocol.ts'
import type { AnswerSink, Caller, LinkCall, TargetFailure, TargetLink, TargetTransport } from '../../transport.ts'
import { OwnStream } from './own-stream.ts'
import { Post, type SseServices } from './post.ts'
import { LOST, type SessionStream } from '../../remote/session-stream.ts'
import { SessionStreams } from '../../remote/session-streams.ts'

/**
 * Creates the transport of a target of revision 2024-11-05: it sends all messages on one SSE stream, whose first event
 * names the path that messages are posted to. One worker has the stream; others receive its messages through the hub,
 * and post their messages themselves.
 */
export function sseTransport(services: SseServices): TargetTransport {
  const { hub, key: place } = services
  const streams = new SessionStreams({
    hub,
    addressOf: (session) => `sse:${session}:${place}`,
    make: (_session, closed) => new OwnStream(services, closed),
  })
  return {
    isPortable: false,
    listensSilently: true,
    link: ({ key }) => new SseLink(key, streams, services),
  }
}

/** The link of one session to the target. */
class SseLink implements TargetLink {
  /** Always empty: the target's session is bound to the stream. */
  readonly session = ''
  readonly #key: string
  readonly #streams: SessionStreams
  readonly #services: SseServices

  constructor(key: string, streams: SessionStreams, services: SseServices) {
    this.#key = key
    this.#streams = streams
    this.#services = services
  }

  request(message: RpcMessage, caller: Caller, answer: AnswerSink): LinkCall {
    const call = new SseCall(message, caller, answer, this.#services)
    if (message.method !== 'initialize') call.start(this.#streams.find(this.#key))
    else this.#streams.findOrOpen(this.#key, caller, (stream) => call.start(stream))
    return call
  }

  tell(message: RpcMessage, caller: Caller, done: (failure: TargetFailure | null) => void): LinkCall {
    const stream = this.#streams.find(this.#key)
    const post = new Post(this.#services, caller, (failure) => {
      if (failure?.code === 'session_lost') stream.stop()
      done(failure)
    })
    let isWanted = true
    stream.where((endpoint) => {
      if (!isWanted) return
      if (endpoint === null) done(LOST)
      else post.start(endpoint, message.bytes)
    })
    return {
      cancel(cause) {
        isWanted = false
        post.cancel(cause)
      },
      resume() {},
    }
  }

  listen(_lastEventId: string, _caller: Caller, answer: AnswerSink): LinkCall {
    return this.#streams.find(this.#key).attend(null, answer, () => answer.opened?.())
  }

  end(): void {
    this.#streams.find(this.#key).stop()
  }
}

/** One request, which is posted; its response arrives on the stream. */
class SseCall implements LinkCall {
  readonly #message: RpcMessage
  readonly #caller: Caller
  readonly #answer: AnswerSink
  readonly #services: SseServices
  #post: Post | null = null
  #attending: LinkCall | null = null
  #isOver = false

  constructor(message: RpcMessage, caller: Caller, answer: AnswerSink, services: SseServices) {
    this.#message = message
    this.#caller = caller
    this.#answer = answer
    this.#services = services
  }

  start(stream: SessionStream): void {
    if (this.#isOver) return
    const sink: AnswerSink = {
      message: (message, eventId) => this.#answer.message(message, eventId),
      closed: () => {
        this.#isOver = true
        this.#answer.closed()
      },
      failed: (failure) => {
        this.#isOver = true
        this.#answer.failed(failure)
      },
    }
    this.#attending = stream.attend(this.#message, sink, (endpoint) => this.#send(endpoint, stream))
  }

  cancel(cause: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#attending?.cancel(cause)
    this.#post?.cancel(cause)
  }

  resume(): void {
    this.#attending?.resume()
  }

  #send(endpoint: string, stream: SessionStream): void {
    if (this.#isOver) return
    this.#post = new Post(this.#services, this.#caller, (failure) => {
      if (failure === null || this.#isOver) return
      this.#isOver = true
      this.#attending?.cancel(NOT_SENT)
      if (failure.code === 'session_lost') stream.stop()
      this.#answer.failed(failure)
    })
    this.#post.start(endpoint, this.#message.bytes)
  }
}

const NOT_SENT = new Error('the target did not accept the request')
