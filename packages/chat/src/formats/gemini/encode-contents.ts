import { clientField, lose } from '../../request/carry-over.ts'
import type { JsonObject, Message, Part, ReasoningPart } from '../../middle.ts'
import { madeBy } from '../../tools/provenance.ts'
import { type GeminiEncoder, reportCache } from './encoder.ts'
import { callsIn, encodeCall, encodeResults, type KnownCalls } from './encode-calls.ts'
import { encodeMedia } from './encode-media.ts'
import { withoutForeignSignatures } from './client/signatures.ts'

/** `contents`: neighbours of the same kind become one entry, because roles must take turns. */
export function encodeContents(messages: readonly Message[], encoder: GeminiEncoder): JsonObject[] {
  const calls = callsIn(messages)
  return turnsOf(messages).map((turn): JsonObject => {
    const parts = encodeTurn(turn, calls, encoder)
    return { role: turn.role, parts: parts.length > 0 ? parts : [{ text: ' ' }] }
  })
}

/** A message of a Gemini client, or one that a policy added. */
export function encodeOwnContents({ native, role, parts }: Message, isGemini3: boolean): JsonObject[] {
  const callMark = isGemini3 ? SKIPPED_SIGNATURE : null
  if (native !== undefined) return native.map((content) => withoutForeignSignatures(content, callMark))
  const texts = parts.flatMap((part) => (part.type === 'text' ? [{ text: part.text }] : []))
  return [{ role: role === 'assistant' ? 'model' : 'user', parts: texts }]
}

/** One entry of `contents`. Tool results are separate from other parts of the user. */
interface Turn {
  role: 'user' | 'model'
  isResults: boolean
  parts: Part[]
}

function turnsOf(messages: readonly Message[]): Turn[] {
  const turns: Turn[] = []
  for (const { role, parts } of messages) {
    const results = parts.filter((part) => part.type === 'toolResult')
    const others = parts.filter((part) => part.type !== 'toolResult')
    // Results must directly follow the calls, before other parts of the user.
    if (results.length > 0) addTurn(turns, { role: 'user', isResults: true, parts: results })
    if (results.length > 0 && others.length === 0) continue
    addTurn(turns, { role: role === 'assistant' ? 'model' : 'user', isResults: false, parts: others })
  }
  return turns
}

function addTurn(turns: Turn[], turn: Turn): void {
  const last = turns.at(-1)
  if (last?.role !== turn.role || last.isResults !== turn.isResults) turns.push(turn)
  else for (const part of turn.parts) last.parts.push(part)
}

function encodeTurn({ role, isResults, parts }: Turn, calls: KnownCalls, encoder: GeminiEncoder): JsonObject[] {
  if (isResults)
    return encodeResults(
      parts.filter((part) => part.type === 'toolResult'),
      calls,
      encoder,
    )
  const encoded: JsonObject[] = []
  /** The signature of a thought belongs on the part after the thought. */
  let signature: string | undefined
  for (const part of parts) {
    reportCache(part, encoder)
    if (part.type === 'reasoning') {
      signature = signatureOf(part, encoder) ?? signature
      if (part.text !== '') encoded.push({ text: part.text, thought: true })
      continue
    }
    const made = part.type === 'toolCall' ? encodeCall(part, encoder) : encodePart(part, encoder)
    if (made === null) continue
    if (signature !== undefined && made.thoughtSignature === undefined) made.thoughtSignature = signature
    signature = undefined
    encoded.push(made)
  }
  if (signature !== undefined) encoded.push({ text: '', thoughtSignature: signature })
  if (role === 'model' && encoder.isGemini3) excuseUnsignedCall(encoded, encoder)
  return encoded
}

/** Encodes a part; null when the part is empty, or cannot be expressed, which is then reported. */
function encodePart(part: Exclude<Part, ReasoningPart>, encoder: GeminiEncoder): JsonObject | null {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? null : { text: part.text }
    case 'image':
    case 'file':
    case 'audio':
      return encodeMedia(part, encoder)
    case 'toolCall':
    case 'toolResult':
    case 'native':
      return null
  }
}

function signatureOf(part: ReasoningPart, { format, losses }: GeminiEncoder): string | undefined {
  const signature = part.signature === undefined ? null : madeBy('google', part.signature)
  if (part.opaque !== undefined || (part.signature !== undefined && signature === null)) {
    const note = 'the signature of another vendor'
    lose(losses, { what: 'dropped', path: clientField(format, 'reasoningHistory'), note })
  }
  return signature ?? undefined
}

/** Gemini 3 refuses calls that it did not sign itself, unless they have this placeholder as signature. */
function excuseUnsignedCall(parts: readonly JsonObject[], { format, losses }: GeminiEncoder): void {
  const first = parts.find((part) => part.functionCall !== undefined)
  if (first === undefined || first.thoughtSignature !== undefined) return
  first.thoughtSignature = SKIPPED_SIGNATURE
  lose(losses, {
    what: 'defaulted',
    path: clientField(format, 'callSignature'),
    note: 'the call was not signed by Gemini',
  })
}

const SKIPPED_SIGNATURE = 'skip_thought_signature_validator'
