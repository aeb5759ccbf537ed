import type { UpstreamRequest, UpstreamResponse } from '@portico/http/client'
import { type BytesEdit, collect, type HeaderBlock, type RawConnection } from '@portico/http'
import { ErrorEvents } from '../../llm/realtime/error-events.ts'
import { WebSocketMessages } from '../../llm/realtime/messages.ts'
import { RealtimeUsage } from '../../llm/realtime/usage.ts'
import { targetQuery } from '../../formats/query-parameters.ts'
import { MAX_ERROR_BYTES } from './answer-faults.ts'
import type { FailoverCall, ModelCall } from './failover-call.ts'
import { noteUnguarded } from '../../llm/guards/prompt-guards.ts'
import type { ReadyProvider } from './provider.ts'

/** A WebSocket to a provider: frames pass byte for byte but for errors that repeat the key, and usage is read beside that. */
export class RealtimeCall implements ModelCall {
  readonly #call: FailoverCall
  readonly #request: UpstreamRequest

  constructor(call: FailoverCall, request: UpstreamRequest) {
    call.record.operation = 'realtime'
    this.#call = call
    this.#request = request
  }

  ask(provider: ReadyProvider): void {
    const { rx } = this.#call
    const { target } = this.#request
    // A realtime request has no body: the model is in the query, and gets the same edits as a model in a body.
    const asked = new URLSearchParams(targetQuery(target)).get('model')
    const { model } = provider.edits.request(asked === null ? {} : { model: asked }, null, rx)
    const headers = this.#call.headers.clone()
    // Compressed events could not be read, and decompression is an additional attack surface.
    headers.remove('sec-websocket-extensions')
    noteUnguarded(rx, provider.guards)
    const call = { kind: 'realtime', format: 'completions', model, stream: true, clientTarget: target } as const
    this.#call.sendRequest(provider, call, { ...this.#request, headers })
  }

  /** Handles a refusal, or a response that is not a WebSocket upgrade. */
  answered({ status, headers, body }: UpstreamResponse): void {
    const { client, attempts } = this.#call
    attempts.lease?.ended()
    if (status < 400) return client.send(status, headers, body)
    collect(body, MAX_ERROR_BYTES, (bytes) => client.sendError(status, headers, bytes ?? Buffer.alloc(0)))
  }

  upgraded(status: number, headers: HeaderBlock, raw: RawConnection, protocol: string): void {
    const { client, attempts, record, services } = this.#call
    const { lease } = attempts
    lease?.connected()
    attempts.settle(String(status), false)
    const usage = new RealtimeUsage(record, (tokens) => this.#charge(tokens))
    // Registered first, because other listeners of `close` read the final usage.
    raw.socket.once('close', () => {
      lease?.ended()
      record.endedAt = services.now()
      usage.over()
    })
    const messages = new WebSocketMessages(usage, services.maxBytes)
    const errors = new ErrorEvents((text) => attempts.redact(text))
    const edit: BytesEdit = {
      push(chunk) {
        messages.push(chunk)
        return errors.push(chunk)
      },
      end: () => errors.end(),
    }
    client.upgrade(status, headers, { ...raw, edit }, protocol)
  }

  /** Charges tokens as they are reported, because a session may last for hours. */
  #charge(tokens: number): void {
    const { rx, record } = this.#call
    for (const account of rx.tokenAccounts) account.charge(tokens)
    record.chargedTokens += tokens
  }
}
