import { indexAt, type JsonNode, nodeAt, textNodeAt } from '@portico/http/json'
import { type NativeTexts, type TextStep, TextWalk } from '../../texts/native-texts.ts'

/**
 * The texts in the items of a response. Streams repeat every text up to four times: as deltas, whole, in its item, and
 * in the last event.
 */
export const responsesTexts: NativeTexts = {
  record: readRecord,
  whole(root) {
    const walk = new TextWalk(true)
    walk.walk(nodeAt(root, 'output'), 'output')
    return walk.steps
  },
  repeats: true,
}

function readRecord(root: JsonNode): TextStep[] {
  const walk = new TextWalk(true)
  const type = textNodeAt(root, 'type') ?? ''
  const item = `${indexAt(root, 'output_index') ?? ''}.`
  const part = indexAt(root, 'content_index') ?? indexAt(root, 'summary_index') ?? ''
  const response = nodeAt(root, 'response')
  if (response !== undefined) {
    if (ENDS.test(type)) walk.end('')
    walk.walk(nodeAt(response, 'output'), 'output')
  } else if (type === 'error') walk.end('')
  else if (type.endsWith('.delta')) readDelta(walk, root, { type, name: `${item}${type.slice(0, -6)}.${part}` })
  else {
    // `.done` events end a text, or an item with all its texts.
    if (type.endsWith('.done')) walk.end(type === 'response.output_item.done' ? item : `${item}${type.slice(0, -5)}.`)
    walk.walk(root, 'said')
  }
  return walk.steps
}

function readDelta(walk: TextWalk, root: JsonNode, { type, name }: { type: string; name: string }): void {
  if (AUDIO.test(type)) return
  const delta = nodeAt(root, 'delta')
  if (delta?.kind === 'text') walk.text(delta, `${name}.delta`, false, type.includes('arguments') ? 'json' : 'text')
  if (root.kind !== 'object') return
  const { members, ...place } = root
  const others = members.filter((member) => member.value !== delta)
  walk.walk({ ...place, members: others }, name)
}

const ENDS = /^response\.(?:completed|incomplete|failed|cancelled)$/
const AUDIO = /^response\.(?:output_)?audio\.delta$/
