import { randomUUID } from 'node:crypto'
import { containedWork } from '@portico/http/faults'
import { objectAt } from '@portico/http/json'
import type { Hub } from '../hub.ts'
import { requestId, type RpcMessage } from '../protocol.ts'
import { RemoteAnswer } from './remote-answer.ts'
import type { AnswerSink, LinkCall } from '../transport.ts'
import { LOST, type SessionStream } from './session-stream.ts'
import { DIED } from './stream-host.ts'
import type { AwaitedRequest, StreamAsk, StreamReply } from './stream-mail.ts'

/** The stream of a session in another worker, if one of them has it. */
export class OtherWorkerStream implements SessionStream {
  readonly #hub: Hub
  readonly #address: string

  constructor(hub: Hub, address: string) {
    this.#hub = hub
    this.#address = address
  }

  attend(request: RpcMessage | null, sink: AnswerSink, ready: (endpoint: string) => void): LinkCall {
    const reply = `sse-reply:${randomUUID()}`
    const answer = new RemoteAnswer(sink, (bytes) => this.#send({ ask: 'took', reply, bytes }))
    const leave = (): void => {
      clearInterval(watching)
      unlisten()
    }
    const unlisten = this.#hub.listen(reply, (text) => {
      const message = JSON.parse(text) as StreamReply
      if (message.kind === 'ready') ready(message.endpoint)
      else if (answer.take(message)) leave()
    })
    const lost = (failure: typeof LOST): void => {
      leave()
      answer.take({ kind: 'failed', call: 0, failure })
    }
    const watching = setInterval(() => {
      this.#send({ ask: 'alive', reply }, (isTaken) => {
        if (!isTaken) lost(DIED)
      })
    }, WATCH_MS)
    watching.unref()
    this.#send({ ask: 'attend', reply, request: request === null ? null : awaited(request) }, (isTaken) => {
      if (!isTaken) lost(LOST)
    })
    return {
      cancel: () => {
        answer.drop()
        leave()
        this.#send({ ask: 'leave', reply })
      },
      resume: () => answer.resume(),
    }
  }

  where(done: (endpoint: string | null) => void): void {
    const reply = `sse-reply:${randomUUID()}`
    const unlisten = this.#hub.listen(reply, (text) => {
      unlisten()
      const message = JSON.parse(text) as StreamReply
      done(message.kind === 'ready' ? message.endpoint : null)
    })
    const asked = (isTaken: boolean): void => {
      if (isTaken) return
      unlisten()
      done(null)
    }
    this.#send({ ask: 'where', reply }, asked)
  }

  stop(): void {
    this.#send({ ask: 'stop' })
  }

  #send(message: StreamAsk, then: (isTaken: boolean) => void = () => {}): void {
    containedWork('request', this.#hub.send(this.#address, JSON.stringify(message)).then(then))
  }
}

function awaited({ id, method, value }: RpcMessage): AwaitedRequest {
  const token = objectAt(objectAt(value, 'params'), '_meta').progressToken
  return {
    id: requestId({ id, method }),
    method,
    token: typeof token === 'string' || typeof token === 'number' ? token : null,
  }
}

/** The interval of checks that the worker with the stream is alive. */
const WATCH_MS = 2_000
