import { indexAt, type JsonNode, textNodeAt } from '@portico/http/json'
import { type NativeTexts, type TextStep, TextWalk } from '../../../texts/native-texts.ts'

/** The texts of all candidates, each candidate by itself. Texts and thoughts continue from record to record. */
export const geminiTexts: NativeTexts = {
  record: (root) => readTexts(root, false),
  whole: (root) => readTexts(root, true),
  repeats: false,
}

function readTexts(root: JsonNode, isWhole: boolean): TextStep[] {
  const walk = new TextWalk(isWhole)
  if (root.kind !== 'object') return walk.steps
  for (const { name, value } of root.members) {
    if (name === 'error' && value.kind === 'object') walk.end('')
    else if (name === 'candidates' && value.kind === 'list') {
      for (const [at, candidate] of value.items.entries())
        readCandidate(walk, candidate, indexAt(candidate, 'index') ?? at)
    } else if (!OWN_MEMBERS.has(name)) walk.walk(value, name, `${name}.`, true)
  }
  return walk.steps
}

function readCandidate(walk: TextWalk, candidate: JsonNode, index: number): void {
  const name = `candidates.${index}.`
  if (candidate.kind !== 'object') return
  for (const member of candidate.members) {
    if (member.name === 'content') readContent(walk, member.value, name)
    else if (member.name === 'logprobsResult') dependOn(walk, member.value, name)
    else if (!OWN_MEMBERS.has(member.name)) walk.walk(member.value, `${name}${member.name}`, name, true)
  }
  if (textNodeAt(candidate, 'finishReason') !== undefined) walk.end(name)
}

function readContent(walk: TextWalk, content: JsonNode, name: string): void {
  if (content.kind !== 'object') return
  for (const member of content.members) {
    if (member.name !== 'parts') {
      if (member.name !== 'role') walk.walk(member.value, `${name}${member.name}`, name, true)
    } else if (member.value.kind === 'list') for (const part of member.value.items) readPart(walk, part, name)
  }
}

function readPart(walk: TextWalk, part: JsonNode, name: string): void {
  if (part.kind !== 'object') return
  const isText = part.members.some((member) => member.name === 'text')
  const isThought = part.members.some((member) => member.name === 'thought' && isTrue(member.value))
  const own = `${name}${isThought ? 'thought' : 'text'}`
  // A part of another kind ends the texts before it.
  if (isText) walk.end(name, [own])
  else if (part.members.some((member) => !OWN_MEMBERS.has(member.name))) walk.end(name)
  for (const member of part.members) {
    if (member.name === 'text') walk.text(member.value, own)
    else if (member.name === 'functionCall') readCall(walk, member.value, `${name}call`)
    else if (member.name !== 'inlineData' && !OWN_MEMBERS.has(member.name)) {
      walk.walk(member.value, `${name}${member.name}`, name, true)
    }
  }
}

function readCall(walk: TextWalk, call: JsonNode, name: string): void {
  if (call.kind !== 'object') return
  for (const { name: member, value } of call.members) {
    if (member === 'args' && value.kind === 'object') {
      const { start, end, members } = value
      if (members.length > 0) walk.steps.push({ do: 'text', name, text: null, form: 'json', isWhole: true, start, end })
    } else if (!OWN_MEMBERS.has(member)) walk.walk(value, `${name}.${member}`, name, true)
  }
}

/** Probabilities repeat the tokens of the text. */
function dependOn(walk: TextWalk, { kind, start, end }: JsonNode, on: string): void {
  if (kind !== 'plain') walk.steps.push({ do: 'depend', on, within: 'answer', json: 'null', start, end })
}

function isTrue(node: JsonNode): boolean {
  return node.kind === 'plain' && node.value === true
}

/** Members that describe a response and do not come from the model. */
const OWN_MEMBERS: ReadonlySet<string> = new Set([
  ...['usageMetadata', 'modelVersion', 'responseId', 'createTime', 'modelStatus', 'error'],
  ...['finishReason', 'index', 'safetyRatings', 'avgLogprobs', 'tokenCount', 'continuationToken'],
  ...['thought', 'thoughtSignature', 'id', 'name', 'willContinue'],
])
