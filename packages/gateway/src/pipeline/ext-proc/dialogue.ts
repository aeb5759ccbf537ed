import type { HeaderBlock } from '@portico/http'
import { InvalidHeader } from '../policy/header-edit.ts'
import { type RequestPart, trailersMessage } from './messages.ts'
import { applyMutation, changedTrailers } from './mutation.ts'
import type { Side } from './side.ts'
import type { Answer, Part, Talk } from './talk.ts'

/** The messages of one direction to the processor, one after the other, and its responses. */
export class Dialogue {
  readonly #side: Side
  readonly #talk: Talk
  #expected: { part: Part; then: (answer: Answer | null) => void } | null = null

  constructor(side: Side, talk: Talk) {
    this.#side = side
    this.#talk = talk
  }

  /** Whether the processor has yet to respond. */
  get isWaiting(): boolean {
    return this.#expected !== null
  }

  /** Null when there is no processor any more. */
  ask(part: Part, said: RequestPart): Promise<Answer | null> {
    this.#talk.say(said)
    return this.answer(part)
  }

  /** Waits for the response to a message that was sent already. */
  answer(part: Part): Promise<Answer | null> {
    if (this.#talk.isOver) return Promise.resolve(null)
    return new Promise((then) => {
      this.#expected = { part, then }
      this.#talk.asked()
      this.#talk.changed()
    })
  }

  /** Returns the changed trailers; the same trailers when the processor is gone. */
  async askTrailers(trailers: HeaderBlock): Promise<HeaderBlock> {
    if (this.#talk.isOver) return trailers
    const answer = await this.ask('trailers', trailersMessage(this.#side.name, trailers))
    const changed = answer === null ? trailers : changedTrailers(trailers, answer.mutation)
    if (!(changed instanceof InvalidHeader)) return changed
    this.#talk.refuse(changed)
    return trailers
  }

  /** Applies the header changes of a response; returns false when they are invalid, and the request is denied. */
  use(about: Part, answer: Answer): boolean {
    const changed = applyMutation(answer.common?.headerMutation, this.#side)
    if (changed instanceof InvalidHeader) {
      this.#talk.refuse(changed)
      return false
    }
    this.#talk.noted(about, answer, changed)
    return true
  }

  /** Returns false when the response was not expected. */
  heard(part: Part, answer: Answer): boolean {
    const expected = this.#expected
    if (expected?.part !== part) return false
    this.#expected = null
    expected.then(answer)
    return true
  }

  /** There is no processor any more. */
  over(): void {
    const expected = this.#expected
    this.#expected = null
    expected?.then(null)
  }
}
