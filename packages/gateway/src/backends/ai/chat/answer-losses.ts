import { type ChatEvent, type FormatName, type JsonObject, lose, type Loss } from '@portico/chat'
import { objectsAt, textAt } from '@portico/http/json'

/** Collects the parts of a response that the client's format cannot express; created only for traced requests. */
export class AnswerLosses {
  readonly losses: Loss[] = []
  readonly #format: FormatName

  constructor(client: FormatName) {
    this.#format = client
  }

  take(event: ChatEvent): void {
    if (event.type === 'partStart' && event.part.type === 'native') this.#native(event.part.format, event.part.value)
    if (event.type === 'partEnd' && event.rest !== undefined) this.#sources(event.rest)
  }

  /** Reports a native part of another format, such as a search that the provider ran. */
  #native(format: FormatName, value: JsonObject): void {
    if (format === this.#format) return
    const note = textAt(value, 'type') ?? Object.keys(value)[0] ?? ''
    lose(this.losses, { what: 'dropped', path: 'content[]', note })
  }

  #sources(rest: JsonObject): void {
    const isMessages = this.#format === 'messages'
    const annotations = objectsAt(rest, 'annotations')
    const citations = objectsAt(rest, 'citations')
    if (isMessages && annotations.length > 0) {
      lose(this.losses, { what: 'dropped', path: 'content[].citations', note: 'sources that another vendor named' })
    }
    // Other formats can only name a source by its URL.
    const isLost = (citation: JsonObject): boolean => (citation['url'] ?? citation['source']) === undefined
    if (!isMessages && annotations.length === 0 && citations.some(isLost)) {
      lose(this.losses, { what: 'dropped', path: 'annotations', note: 'sources without an address' })
    }
    if (this.#format !== 'completions' && objectsAt(rest, 'logprobs').length > 0) {
      lose(this.losses, { what: 'dropped', path: 'logprobs' })
    }
  }
}
