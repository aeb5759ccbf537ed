import type { ResponseContext } from '../../llm/format.ts'
import type { ChatRequest } from '../../llm/middle.ts'
import type { PreparedChat } from './prepare-chat.ts'

/** What those who read or write an answer know of the request: mostly they do not ask. */
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
