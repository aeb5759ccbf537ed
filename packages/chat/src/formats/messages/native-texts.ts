import { indexAt, type JsonNode, nodeAt, textNodeAt } from '@portico/http/json'
import { type NativeTexts, type TextStep, TextWalk } from '../../texts/native-texts.ts'

/** The texts in the blocks of a response; deltas continue the members of the same name. */
export const messagesTexts: NativeTexts = {
  record: readRecord,
  whole(root) {
    const walk = new TextWalk(true)
    walkBlocks(walk, nodeAt(root, 'content'))
    return walk.steps
  },
  repeats: false,
}

function readRecord(root: JsonNode): TextStep[] {
  const walk = new TextWalk(false)
  const index = indexAt(root, 'index') ?? 0
  switch (textNodeAt(root, 'type') ?? '') {
    case 'message_start':
      walkBlocks(walk, nodeAt(nodeAt(root, 'message'), 'content'))
      break
    case 'content_block_start':
      walk.walk(nodeAt(root, 'content_block'), String(index))
      break
    case 'content_block_delta':
      walk.walk(nodeAt(root, 'delta'), String(index))
      break
    case 'content_block_stop':
      walk.end(`${index}.`)
      break
    case 'ping':
      break
    case 'message_delta':
    case 'message_stop':
    case 'error':
      walk.end('')
      break
    default:
      walk.walk(root, 'unknown', 'unknown.', true)
  }
  return walk.steps
}

function walkBlocks(walk: TextWalk, content: JsonNode | undefined): void {
  if (content?.kind !== 'list') return
  for (const [at, block] of content.items.entries()) walk.walk(block, String(at))
}
