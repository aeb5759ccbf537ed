import { RemoteAnswer } from '../remote/remote-answer.ts'
import type { AnswerSink, LinkCall, TargetFailure } from '../transport.ts'
import type { ProcessLink, ProcessSpec } from '../hub.ts'
import { contentOf } from './process-content.ts'
import type { ProcessFromWorker, ProcessToWorker } from './hub-messages.ts'

/** The calls of this worker to processes, which run under the main thread. */
export class ProcessCalls {
  readonly #post: (message: ProcessFromWorker) => void
  readonly #specs = new WeakMap<ProcessSpec, number>()
  readonly #specsByContent = new Map<string, number>()
  readonly #answers = new Map<number, RemoteAnswer>()
  readonly #tellings = new Map<number, (failure: TargetFailure | null) => void>()
  #lastCall = 0

  constructor(post: (message: ProcessFromWorker) => void) {
    this.#post = post
  }

  link(content: ProcessSpec, session: string): ProcessLink {
    const spec = this.#numberOf(content)
    return {
      request: ({ bytes }, answer) =>
        this.#answered(answer, (call) => ({ kind: 'request', spec, session, call, text: bytes.toString('utf8') })),
      tell: ({ bytes }, done) => this.#told(done, { spec, session, text: bytes.toString('utf8') }),
      listen: (answer) => this.#answered(answer, (call) => ({ kind: 'listen', spec, session, call })),
      end: () => this.#post({ kind: 'end', spec, session }),
    }
  }

  take(message: ProcessToWorker): void {
    if (message.kind === 'told') {
      const done = this.#tellings.get(message.call)
      this.#tellings.delete(message.call)
      return done?.(message.failure)
    }
    if (this.#answers.get(message.call)?.take(message)) this.#answers.delete(message.call)
  }

  #answered(sink: AnswerSink, make: (call: number) => ProcessFromWorker): LinkCall {
    const call = ++this.#lastCall
    const answer = new RemoteAnswer(sink, (bytes) => this.#post({ kind: 'took', call, bytes }))
    this.#answers.set(call, answer)
    this.#post(make(call))
    return {
      cancel: () => {
        answer.drop()
        if (this.#answers.delete(call)) this.#post({ kind: 'cancel', call })
      },
      resume: () => answer.resume(),
    }
  }

  #told(
    done: (failure: TargetFailure | null) => void,
    message: { spec: number; session: string; text: string },
  ): LinkCall {
    const call = ++this.#lastCall
    this.#tellings.set(call, done)
    this.#post({ kind: 'tell', call, ...message })
    // A message that was posted cannot be withdrawn.
    return { cancel: () => this.#tellings.delete(call), resume: () => {} }
  }

  #numberOf(spec: ProcessSpec): number {
    const known = this.#specs.get(spec)
    if (known !== undefined) return known
    const content = contentOf(spec)
    let number = this.#specsByContent.get(content)
    if (number === undefined) {
      number = this.#specsByContent.size + 1
      this.#specsByContent.set(content, number)
      this.#post({ kind: 'spec', spec: number, content: spec })
    }
    this.#specs.set(spec, number)
    return number
  }
}
