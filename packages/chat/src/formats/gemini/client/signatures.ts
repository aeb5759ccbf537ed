import { isObject } from '@portico/http/json'
import type { Json, JsonObject, ReasoningPart, ToolCallPart } from '../../../middle.ts'
import { splitItemId, withItemId, withMaker, madeBy } from '../../../tools/provenance.ts'

/**
 * The format has one member for all that a provider signs, `thoughtSignature`, in base64. Signatures of Google stand
 * there as they are; those of other vendors are packed with the name of their vendor, so that the gateway knows them when
 * the client sends them back.
 */

/** The content of a `thoughtSignature`. */
export type SignatureContent = Pick<ReasoningPart, 'signature' | 'opaque' | 'id'> & Pick<ToolCallPart, 'isUnsigned'>

/** The signature of a tool call that a provider other than Google made. Gemini 3 refuses such calls without a placeholder. */
const UNSIGNED = 'portico:unsigned'

export function fromThoughtSignature(packed: string): SignatureContent {
  const text = Buffer.from(packed, 'base64').toString('utf8')
  if (text === UNSIGNED) return { isUnsigned: true }
  const [, kind, value = ''] = FOREIGN.exec(text) ?? []
  if (kind === undefined) return { signature: withMaker('google', packed) }
  if (kind === '') return { signature: value }
  const { sealed, id } = splitItemId(value)
  return { opaque: sealed, ...(id !== undefined && { id }) }
}

/** The signature of a reasoning part, or of a tool call. */
export function thoughtSignature(signature: string): string {
  return madeBy('google', signature) ?? packed(signature)
}

/** The encrypted reasoning of another vendor, with the id of its item. */
export function packedReasoning(opaque: string, id: string | undefined): string {
  return packed(`opaque ${withItemId(opaque, id)}`)
}

export function callSignature({ signature }: Pick<ToolCallPart, 'signature'>): string {
  return thoughtSignature(signature ?? UNSIGNED)
}

function packed(text: string): string {
  return Buffer.from(text).toString('base64')
}

const FOREIGN = /^(|opaque )((?:openai|anthropic|amazon|google):[^]*)$/

/**
 * A content as the client wrote it, without what other vendors signed: Gemini refuses their signatures. `callMark` takes
 * the place of the signature of a call.
 */
export function withoutForeignSignatures(content: JsonObject, callMark: string | null): JsonObject {
  const { parts } = content
  if (!Array.isArray(parts)) return content
  const kept = parts.flatMap((part) => (isObject(part) ? withoutForeign(part, callMark) : [part]))
  return { ...content, parts: kept }
}

function withoutForeign(part: JsonObject, callMark: string | null): Json[] {
  const name = 'thoughtSignature' in part ? 'thoughtSignature' : 'thought_signature'
  const found = part[name]
  if (typeof found !== 'string' || isGoogles(fromThoughtSignature(found))) return [part]
  if (part.thought === true) return []
  const { [name]: _foreign, ...rest } = part
  const isCall = 'functionCall' in part || 'function_call' in part
  if (isCall && callMark !== null) return [{ ...rest, [name]: callMark }]
  return Object.keys(rest).length === 1 && rest.text === '' ? [] : [rest]
}

function isGoogles({ signature }: SignatureContent): boolean {
  return signature !== undefined && madeBy('google', signature) !== null
}
