import type { ChatRequest, ResponseContext } from '@portico/chat'
import type { PreparedChat } from './prepare-chat.ts'

/**
 * The facts about a request for readers and writers of its response. They are computed on demand, because most
 * responses do not need them.
 */
export class AnswerContext implements ResponseContext {
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

  isOf({ asked }: PreparedChat): boolean {
    return this.#asked === asked
  }

  get model(): string {
    return this.#model ?? this.request.model
  }
}
