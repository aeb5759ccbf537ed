import { clientField, lose } from '../../request/carry-over.ts'
import type { JsonObject, ReasoningPart } from '../../middle.ts'
import { madeBy } from '../../tools/provenance.ts'
import type { ConverseEncoder } from './encoder.ts'

/**
 * Whether Bedrock can read the reasoning. Signatures of Claude are valid at every provider; reasoning encrypted by
 * Bedrock only at Bedrock.
 */
export function isReadable({ signature, opaque }: ReasoningPart): boolean {
  return madeBy('anthropic', signature ?? '') !== null || madeBy('amazon', opaque ?? '') !== null
}

/**
 * Encodes reasoning. Models refuse reasoning that is unsigned or signed by another vendor, so such reasoning is dropped
 * and reported.
 */
export function encodeReasoning(part: ReasoningPart, { format, losses }: ConverseEncoder): JsonObject[] {
  const signature = madeBy('anthropic', part.signature ?? '')
  const redactedContent = madeBy('amazon', part.opaque ?? '')
  if (!isReadable(part)) {
    const path = clientField(format, 'reasoningHistory')
    lose(losses, { what: 'dropped', path, note: 'not signed by this vendor' })
  }
  return [
    ...(signature === null ? [] : [{ reasoningContent: { reasoningText: { text: part.text, signature } } }]),
    ...(redactedContent === null ? [] : [{ reasoningContent: { redactedContent } }]),
  ]
}
