import type { ReasoningPart } from '../../middle.ts'
import type { DeltaHead, ItemOutput, PartWriter } from './item-output.ts'
import { deltaHead } from './item-output.ts'
import { encryptedContent, reasoningItem } from './reasoning-item.ts'

/** A reasoning item, whose sections come as parts of their own. */
export interface ReasoningWriter {
  /** Whether the part is another section of this item. */
  continuesWith(part: ReasoningPart): boolean
  /** `part` is filled by others. */
  section(part: ReasoningPart): PartWriter
  /** Ends the item, after the open section if there is one. */
  close(): void
}

export function writeReasoning({ id: itemId }: ReasoningPart, output: ItemOutput): ReasoningWriter {
  const { id, at, sink } = output
  const parts: ReasoningPart[] = []
  let openSections = 0
  let isClosing = false
  let isOver = false
  sink.say('response.output_item.added', { output_index: at, item: { id, type: 'reasoning', summary: [] } })

  function finish(): void {
    if (isOver || !isClosing || openSections > 0) return
    isOver = true
    output.done({ id, ...reasoningItem(parts, encryptedContent(parts)) })
  }

  return {
    continuesWith: (part) => !isClosing && itemId !== undefined && part.id === itemId,
    section(part) {
      const names = part.verbatim ? CONTENT : SUMMARY
      const number = parts.filter((other) => other.text !== '' && other.verbatim === part.verbatim).length
      const position = { item_id: id, output_index: at, [names.index]: number }
      let head: DeltaHead | null = null
      parts.push(part)
      openSections += 1
      return {
        add(text) {
          if (head === null) sink.say(names.begun, { ...position, part: { type: names.part, text: '' } })
          head ??= deltaHead(names.delta, position)
          sink.delta(head, text)
        },
        end() {
          openSections -= 1
          if (head !== null) {
            sink.say(names.done, { ...position, text: part.text })
            sink.say(names.ended, { ...position, part: { type: names.part, text: part.text } })
          }
          // A section without an id is an item by itself, and encrypted content comes last.
          if (itemId === undefined || part.opaque !== undefined) isClosing = true
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

const SUMMARY = {
  index: 'summary_index',
  part: 'summary_text',
  begun: 'response.reasoning_summary_part.added',
  delta: 'response.reasoning_summary_text.delta',
  done: 'response.reasoning_summary_text.done',
  ended: 'response.reasoning_summary_part.done',
}

const CONTENT = {
  index: 'content_index',
  part: 'reasoning_text',
  begun: 'response.content_part.added',
  delta: 'response.reasoning_text.delta',
  done: 'response.reasoning_text.done',
  ended: 'response.content_part.done',
}
