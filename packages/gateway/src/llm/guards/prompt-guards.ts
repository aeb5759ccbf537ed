import type { ChatEvent, NativeTexts, UnexaminedKind } from '@portico/chat'
import { chainOf, type GuardChain, type Outcome } from './chain.ts'
import { EventGuard } from './stream/event-guard.ts'
import { type GuardedAnswer, guardAnswer } from './whole/guard-answer.ts'
import { guardBody, type GuardedBody } from './whole/guard-body.ts'
import { type GuardedRequest, guardRequest, type RequestBody } from './whole/guard-request.ts'
import type { ExchangeContext, Guard } from './guard.ts'
import { RecordGuard } from './stream/record-guard.ts'
import { TextPipes } from './stream/text-pipe.ts'

/**
 * The guards of one `promptGuard` policy; null for a phase without guards. Backends guard texts only through these two
 * objects. A result is a promise only when a guard has to wait.
 */
export interface PromptGuards {
  readonly request: RequestGuards | null
  readonly response: ResponseGuards | null
}

export class RequestGuards {
  readonly #chain: GuardChain
  readonly #allowUnexamined: readonly UnexaminedKind[]

  /** `allowUnexamined` lists the kinds of content that pass although no guard can examine them. */
  constructor(guards: readonly Guard[], allowUnexamined: readonly UnexaminedKind[] = []) {
    this.#chain = chainOf(guards, 'request')
    this.#allowUnexamined = allowUnexamined
  }

  /** Guards the body of a chat. */
  body(request: RequestBody, context: ExchangeContext): GuardedRequest | Promise<GuardedRequest> {
    return guardRequest({ chain: this.#chain, allowUnexamined: this.#allowUnexamined }, request, context)
  }

  /** Guards texts of the user that are no chat, such as the inputs of embeddings. */
  texts(texts: readonly string[], context: ExchangeContext): Outcome | Promise<Outcome> {
    const about = texts.map(() => ({ role: 'user', form: 'text' }) as const)
    return this.#chain.run(texts, { ...context, about })
  }
}

export class ResponseGuards {
  readonly #chain: GuardChain

  constructor(guards: readonly Guard[]) {
    this.#chain = chainOf(guards, 'response')
  }

  /** Guards a whole response in the middle format. */
  events(events: readonly ChatEvent[], context: ExchangeContext): GuardedAnswer | Promise<GuardedAnswer> {
    return guardAnswer(this.#chain, events, context)
  }

  /** Guards a whole response in its original format. */
  body(body: { json: string; texts: NativeTexts }, context: ExchangeContext): GuardedBody | Promise<GuardedBody> {
    return guardBody(this.#chain, body, context)
  }

  /** Guards a stream in the middle format. */
  eventStream(context: ExchangeContext): EventGuard {
    return new EventGuard(new TextPipes(this.#chain, context))
  }

  /** Guards a stream in its original format. */
  recordStream(texts: NativeTexts, context: ExchangeContext): RecordGuard {
    return new RecordGuard(this.#chain, context, texts)
  }
}
