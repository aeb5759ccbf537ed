import { isObject, objectAt, objectsAt } from '../../../wire/json.ts'
import type { JsonObject, RefusalPart, TextPart } from '../../middle.ts'
import type { ItemOutput, PartWriter } from './item-output.ts'
import { deltaHead } from './item-output.ts'

/** A text or a refusal as a message of its own; `part` is filled by others. */
export function writeMessage(part: TextPart | RefusalPart, output: ItemOutput): PartWriter {
  const { id, at, sink } = output
  const place = { item_id: id, output_index: at, content_index: 0 }
  const name = part.type === 'text' ? 'output_text' : 'refusal'
  const head = deltaHead(`response.${name}.delta`, part.type === 'text' ? { ...place, logprobs: [] } : place)
  const item = { id, type: 'message', status: 'in_progress', role: 'assistant', content: [] }
  sink.say('response.output_item.added', { output_index: at, item })
  sink.say('response.content_part.added', { ...place, part: contentOf({ ...part, text: '' }, []) })
  return {
    add: (text) => sink.delta(head, text),
    end() {
      const annotations = part.type === 'text' ? annotationsOf(part) : []
      const content = contentOf(part, annotations)
      for (const [index, annotation] of annotations.entries()) {
        sink.say('response.output_text.annotation.added', { ...place, annotation_index: index, annotation })
      }
      if (part.type === 'text') sink.say('response.output_text.done', { ...place, text: part.text, logprobs: [] })
      else sink.say('response.refusal.done', { ...place, refusal: part.text })
      sink.say('response.content_part.done', { ...place, part: content })
      const said = part.type === 'text' ? objectAt(part.rest ?? {}, 'item') : {}
      output.done({ ...said, ...item, status: 'completed', content: [content] })
    },
  }
}

function contentOf(part: TextPart | RefusalPart, annotations: JsonObject[]): JsonObject {
  return part.type === 'text'
    ? { type: 'output_text', text: part.text, annotations, logprobs: [] }
    : { type: 'refusal', refusal: part.text }
}

/** Completions nests what stands flat here. */
function annotationsOf(part: TextPart): JsonObject[] {
  return objectsAt(part.rest ?? {}, 'annotations').map((annotation) => {
    const { url_citation: citation, ...others } = annotation
    return isObject(citation) ? { ...others, ...citation } : annotation
  })
}
