import { type JsonNode, nodeAt, textNodeAt } from '@portico/http/json'
import { type NativeTexts, type TextStep, TextWalk } from '../texts/native-texts.ts'

/**
 * The texts in transcriptions and translations. Words with their times, and tokens, spell the same text in pieces that no
 * guard can read, so they are dropped from a response with a mask.
 */
export const transcriptTexts: NativeTexts = {
  record: readRecord,
  whole(root) {
    const walk = new TextWalk(true)
    if (root.kind !== 'object') return []
    for (const member of root.members) {
      if (member.name === 'words') walk.steps.push(dropped(member.value))
      else if (member.name === 'segments') readSegments(walk, member.value)
      else walk.member(member, 'transcript', WHOLE)
    }
    return walk.steps
  },
  repeats: true,
}

function readSegments(walk: TextWalk, segments: JsonNode): void {
  if (segments.kind !== 'list') return
  for (const [at, segment] of segments.items.entries()) {
    if (segment.kind !== 'object') continue
    for (const member of segment.members) {
      if (member.name === 'tokens' || member.name === 'words') walk.steps.push(dropped(member.value))
      else walk.member(member, `transcript.segments.${at}`, WHOLE)
    }
  }
}

function dropped({ start, end }: JsonNode): TextStep {
  return { do: 'depend', on: 'transcript.', within: 'answer', json: '[]', start, end }
}

function readRecord(root: JsonNode): TextStep[] {
  const walk = new TextWalk(true)
  const type = textNodeAt(root, 'type')
  const delta = nodeAt(root, 'delta')
  if (root.kind !== 'object') return []
  if (type !== 'transcript.text.delta') {
    if (type === 'transcript.text.done' || type === 'error') walk.end('')
    walk.walk(root, 'said')
    return walk.steps
  }
  walk.text(delta, 'transcript.delta', false)
  walk.walk({ ...root, members: root.members.filter(({ value }) => value !== delta) }, 'transcript')
  return walk.steps
}

const WHOLE = { signed: 'transcript.', isWhole: true } as const
