import { annotationsOf, flatAnnotation } from '../../response/annotations.ts'
import { objectAt } from '@portico/http/json'
import type { JsonObject, RefusalPart, StartedPart, TextPart } from '../../middle.ts'
import type { ItemOutput, PartWriter } from './item-output.ts'
import { deltaHead } from './item-output.ts'

/** Writes a message item: a refusal, or a text, which some providers split where its sources change. */
export interface MessageWriter {
  /** Whether the part continues this text. */
  continuesWith(part: StartedPart): boolean
  /** Writes a section; `collectInto` fills the text of `part`. */
  section(part: TextPart | RefusalPart): PartWriter
  /** Ends the message, after the open section if there is one. */
  close(): void
}

export function writeMessage(type: 'text' | 'refusal', output: ItemOutput): MessageWriter {
  const { id, at, sink } = output
  const position = { item_id: id, output_index: at, content_index: 0 }
  const name = type === 'text' ? 'output_text' : 'refusal'
  const head = deltaHead(`response.${name}.delta`, type === 'text' ? { ...position, logprobs: [] } : position)
  const item = { id, type: 'message', status: 'in_progress', role: 'assistant', content: [] }
  const parts: (TextPart | RefusalPart)[] = []
  let openSections = 0
  let isClosing = false
  let isOver = false
  sink.say('response.output_item.added', { output_index: at, item })
  sink.say('response.content_part.added', { ...position, part: contentOf(type, '', []) })

  function finish(): void {
    if (isOver || !isClosing || openSections > 0) return
    isOver = true
    const text = parts.map((part) => part.text).join('')
    let length = 0
    const annotations = parts.flatMap((part) => {
      const range = { start: length, end: (length += part.text.length) }
      return part.type === 'text' ? annotationsOf(part.rest, range).map(flatAnnotation) : []
    })
    const content = contentOf(type, text, annotations)
    for (const [index, annotation] of annotations.entries()) {
      sink.say('response.output_text.annotation.added', { ...position, annotation_index: index, annotation })
    }
    if (type === 'text') sink.say('response.output_text.done', { ...position, text, logprobs: [] })
    else sink.say('response.refusal.done', { ...position, refusal: text })
    sink.say('response.content_part.done', { ...position, part: content })
    const said = parts.map((part) => (part.type === 'text' ? objectAt(part.rest ?? {}, 'item') : {}))
    output.done({ ...said[0], ...item, status: 'completed', content: [content] })
  }

  return {
    continuesWith: (part) => !isClosing && type === 'text' && part.type === 'text' && part.continues === true,
    section(part) {
      parts.push(part)
      openSections += 1
      return {
        add: (text) => sink.delta(head, text),
        end() {
          openSections -= 1
          finish()
        },
      }
    },
    close() {
      isClosing = true
      finish()
    },
  }
}

function contentOf(type: 'text' | 'refusal', text: string, annotations: JsonObject[]): JsonObject {
  return type === 'text' ? { type: 'output_text', text, annotations, logprobs: [] } : { type, refusal: text }
}
