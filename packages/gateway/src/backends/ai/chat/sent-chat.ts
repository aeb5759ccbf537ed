import type { ChatRequest, ResponseContext } from '@portico/chat'
import type { CallServices } from '../failover-call.ts'
import type { ClientChat, PreparedChat } from './prepare-chat.ts'
import type { ReadyProvider } from '../provider.ts'

/** A chat that was sent to a provider, with the context that its response is decoded and encoded in. */
export class SentChat {
  readonly prepared: PreparedChat
  readonly provider: ReadyProvider
  /** The number of providers that the call had tried when it sent the chat. */
  readonly tries: number
  readonly #chat: ClientChat
  readonly #services: CallServices
  #context: AnswerContext | null = null

  constructor(
    { prepared, provider, tries }: Pick<SentChat, 'prepared' | 'provider' | 'tries'>,
    chat: ClientChat,
    services: CallServices,
  ) {
    this.prepared = prepared
    this.provider = provider
    this.tries = tries
    this.#chat = chat
    this.#services = services
  }

  get context(): ResponseContext {
    if (this.#context !== null) return this.#context
    const { clock, newId } = this.#services
    const named = this.#chat.body.value['model']
    const now = Math.floor(clock() / 1000)
    this.#context = new AnswerContext(this.prepared, typeof named === 'string' ? named : null, now, newId)
    return this.#context
  }
}

/**
 * The facts about a request for readers and writers of its response. They are computed on demand, because most
 * responses do not need them.
 */
class AnswerContext implements ResponseContext {
  readonly now: number
  readonly newId: ResponseContext['newId']
  readonly toolNames: Map<string, string>
  readonly #asked: PreparedChat['asked']
  readonly #model: string | null

  constructor({ asked, toolNames }: PreparedChat, model: string | null, now: number, newId: ResponseContext['newId']) {
    this.now = now
    this.newId = newId
    this.toolNames = toolNames
    this.#asked = asked
    this.#model = model
  }

  get request(): ChatRequest {
    return this.#asked.request
  }

  get model(): string {
    return this.#model ?? this.request.model
  }
}
