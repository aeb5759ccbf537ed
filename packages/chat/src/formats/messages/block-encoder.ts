import { clientCallId } from '../../tools/call-ids.ts'
import type { ChatEvent, JsonObject, StartedPart } from '../../middle.ts'
import { bare, redacted } from './encode-response.ts'

type PartEvent = Extract<ChatEvent, { index: number }>

/** Events of one part after the other to blocks, which are numbered by themselves. */
export class BlockEncoder {
  readonly #record: (body: JsonObject) => string
  #block = -1
  #part: StartedPart | null = null
  /** Whether the block of the part has begun; reasoning begins with its first text. */
  #isOpen = false

  constructor(record: (body: JsonObject) => string) {
    this.#record = record
  }

  event(event: PartEvent): string {
    switch (event.type) {
      case 'partStart':
        return this.#start(event.part)
      case 'partDelta':
        return event.text === '' ? '' : this.#add(event.text)
      case 'partEnd': {
        const text = this.#end(event)
        this.#part = null
        return text
      }
    }
  }

  #begin(content: JsonObject): string {
    this.#block += 1
    this.#isOpen = true
    return this.#record({ type: 'content_block_start', index: this.#block, content_block: content })
  }

  #delta(content: JsonObject): string {
    return this.#record({ type: 'content_block_delta', index: this.#block, delta: content })
  }

  #stop(): string {
    this.#isOpen = false
    return this.#record({ type: 'content_block_stop', index: this.#block })
  }

  #start(started: StartedPart): string {
    this.#part = started
    switch (started.type) {
      case 'text':
      case 'refusal':
        return this.#begin({ type: 'text', text: '' })
      case 'toolCall':
        return this.#begin({ type: 'tool_use', id: clientCallId(started), name: started.name, input: {} })
      case 'native':
        return started.format === 'messages' ? this.#whole(started.value) : ''
      case 'reasoning':
        return ''
    }
  }

  #whole(value: JsonObject): string {
    const { input, ...others } = value
    if (input === undefined) return this.#begin(value) + this.#stop()
    const opening = this.#begin({ ...others, input: {} })
    return opening + this.#delta({ type: 'input_json_delta', partial_json: JSON.stringify(input) }) + this.#stop()
  }

  #add(text: string): string {
    switch (this.#part?.type) {
      case 'text':
      case 'refusal':
        return this.#delta({ type: 'text_delta', text })
      case 'toolCall':
        return this.#delta({ type: 'input_json_delta', partial_json: text })
      case 'reasoning':
        return (this.#isOpen ? '' : this.#begin(NO_THOUGHT)) + this.#delta({ type: 'thinking_delta', thinking: text })
      case 'native':
      case undefined:
        return ''
    }
  }

  #end({ signature, opaque, rest }: Extract<PartEvent, { type: 'partEnd' }>): string {
    const part = this.#part
    if (part?.type === 'reasoning') return this.#endReasoning(signature, opaque ?? part.opaque, part.id)
    const citations = part?.type === 'text' && Array.isArray(rest?.citations) ? rest.citations : []
    const cited = citations.map((citation) => this.#delta({ type: 'citations_delta', citation })).join('')
    return this.#isOpen ? cited + this.#stop() : ''
  }

  #endReasoning(signature: string | undefined, opaque: string | undefined, id: string | undefined): string {
    let text = signature !== undefined && !this.#isOpen ? this.#begin(NO_THOUGHT) : ''
    if (signature !== undefined) text += this.#delta({ type: 'signature_delta', signature: bare(signature) })
    if (this.#isOpen) text += this.#stop()
    return opaque === undefined ? text : text + this.#begin(redacted(opaque, id)) + this.#stop()
  }
}

const NO_THOUGHT: JsonObject = { type: 'thinking', thinking: '', signature: '' }
