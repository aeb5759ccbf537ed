import { clientCallId } from '../../tool-calls/client-call-id.ts'
import type { ChatEvent, JsonObject, StartedPart } from '../../middle.ts'
import { bare, redacted } from './encode-response.ts'

type PartEvent = Extract<ChatEvent, { index: number }>

/** Events of one part after the other to blocks, which are numbered by themselves. */
export function createBlockEncoder(record: (body: JsonObject) => string): { event(event: PartEvent): string } {
  let block = -1
  let part: StartedPart | null = null
  /** Whether the block of the part was begun; reasoning begins when there is something to tell. */
  let isOpen = false

  function begin(content: JsonObject): string {
    block += 1
    isOpen = true
    return record({ type: 'content_block_start', index: block, content_block: content })
  }

  function delta(content: JsonObject): string {
    return record({ type: 'content_block_delta', index: block, delta: content })
  }

  function stop(): string {
    isOpen = false
    return record({ type: 'content_block_stop', index: block })
  }

  function start(started: StartedPart): string {
    part = started
    switch (started.type) {
      case 'text':
      case 'refusal':
        return begin({ type: 'text', text: '' })
      case 'toolCall':
        return begin({ type: 'tool_use', id: clientCallId(started), name: started.name, input: {} })
      case 'native':
        return started.format === 'messages' ? whole(started.value) : ''
      case 'reasoning':
        return ''
    }
  }

  function whole(value: JsonObject): string {
    const { input, ...others } = value
    if (input === undefined) return begin(value) + stop()
    const opening = begin({ ...others, input: {} })
    return opening + delta({ type: 'input_json_delta', partial_json: JSON.stringify(input) }) + stop()
  }

  function add(text: string): string {
    switch (part?.type) {
      case 'text':
      case 'refusal':
        return delta({ type: 'text_delta', text })
      case 'toolCall':
        return delta({ type: 'input_json_delta', partial_json: text })
      case 'reasoning':
        return (isOpen ? '' : begin(NO_THOUGHT)) + delta({ type: 'thinking_delta', thinking: text })
      case 'native':
      case undefined:
        return ''
    }
  }

  function end({ signature, opaque, rest }: Extract<PartEvent, { type: 'partEnd' }>): string {
    if (part?.type === 'reasoning') return endReasoning(signature, opaque ?? part.opaque, part.id)
    const citations = part?.type === 'text' && Array.isArray(rest?.citations) ? rest.citations : []
    const cited = citations.map((citation) => delta({ type: 'citations_delta', citation })).join('')
    return isOpen ? cited + stop() : ''
  }

  function endReasoning(signature: string | undefined, opaque: string | undefined, id: string | undefined): string {
    let text = signature !== undefined && !isOpen ? begin(NO_THOUGHT) : ''
    if (signature !== undefined) text += delta({ type: 'signature_delta', signature: bare(signature) })
    if (isOpen) text += stop()
    return opaque === undefined ? text : text + begin(redacted(opaque, id)) + stop()
  }

  return {
    event(event) {
      switch (event.type) {
        case 'partStart':
          return start(event.part)
        case 'partDelta':
          return event.text === '' ? '' : add(event.text)
        case 'partEnd': {
          const text = end(event)
          part = null
          return text
        }
      }
    },
  }
}

const NO_THOUGHT: JsonObject = { type: 'thinking', thinking: '', signature: '' }
