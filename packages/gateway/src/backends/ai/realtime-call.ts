import type { ClientFormat } from '@portico/chat'
import { ErrorEvents } from '../../llm/realtime/error-events.ts'
import { WebSocketMessages } from '../../llm/realtime/messages.ts'
import { RealtimeUsage } from '../../llm/realtime/usage.ts'
import { type BytesEdit, collect, type HeaderBlock, type RawConnection } from '@portico/http'
import { targetQuery } from '../../pipeline/route/target.ts'
import type { UpstreamRequest, UpstreamResponse } from '@portico/http/client'
import { noteUnguarded } from './note-unguarded.ts'
import type { ReadyProvider } from './provider.ts'
import { type CallParts, type CallServices, type Judgement, MAX_ERROR_BYTES, TriedCall } from './tried-call.ts'

/** A WebSocket to a provider: frames pass byte for byte but for errors that repeat the key, and usage is read beside that. */
export class RealtimeCall extends TriedCall {
  protected readonly format: Pick<ClientFormat, 'encodeError'>
  readonly #request: UpstreamRequest

  constructor(parts: CallParts, request: UpstreamRequest, format: RealtimeCall['format'], services: CallServices) {
    super(parts, services)
    this.facts.operation = 'realtime'
    this.format = format
    this.#request = request
  }

  protected ask(provider: ReadyProvider): void {
    const { target } = this.#request
    // A realtime request has no body: the model is in the query, and gets the same edits as a model in a body.
    const asked = new URLSearchParams(targetQuery(target)).get('model')
    const { model } = provider.edits.request(asked === null ? {} : { model: asked }, null, this.rx)
    const headers = this.headers.clone()
    // Compressed events could not be read, and decompression is an additional attack surface.
    headers.remove('sec-websocket-extensions')
    noteUnguarded(this.rx, provider)
    const call = { kind: 'realtime', format: 'completions', model, stream: true, clientTarget: target } as const
    this.sendRequest(provider, call, { ...this.#request, headers })
  }

  /** Handles a refusal, or a response that is not a WebSocket upgrade. */
  protected answered({ status, headers, body }: UpstreamResponse): void {
    this.visit?.ended()
    if (status < 400) return this.answer(status, headers, body)
    collect(body, MAX_ERROR_BYTES, (bytes) => this.answerError(status, headers, bytes ?? Buffer.alloc(0)))
  }

  /** A body that has begun to go to one provider is not there for another. */
  protected override goesElsewhere(judgement: Judgement, reason: string): boolean {
    return this.#request.body.length === 0 && super.goesElsewhere(judgement, reason)
  }

  override upgraded(status: number, headers: HeaderBlock, raw: RawConnection, protocol: string): void {
    const { visit, facts, services, handler } = this
    this.isOver = true
    visit?.connected()
    this.upgradedTo(status)
    const usage = new RealtimeUsage(facts, (tokens) => this.#charge(tokens))
    // Registered first, because other listeners of `close` read the final usage.
    raw.socket.once('close', () => {
      visit?.ended()
      facts.endedAt = services.now()
      usage.over()
    })
    const messages = new WebSocketMessages(usage, services.maxBytes)
    const errors = new ErrorEvents((text) => this.hidden(text))
    const edit: BytesEdit = {
      push(chunk) {
        messages.push(chunk)
        return errors.push(chunk)
      },
      end: () => errors.end(),
    }
    handler.upgraded(status, headers, { ...raw, edit }, protocol)
  }

  /** Charges tokens as they are reported, because a session may last for hours. */
  #charge(tokens: number): void {
    for (const account of this.rx.tokenAccounts) account.charge(tokens)
    this.facts.chargedTokens += tokens
  }
}
