import { objectsAt, parseJsonObject, textAt } from '@portico/http/json'
import type { JsonObject, ReasoningPart } from '../../middle.ts'
import { madeBy, withMaker } from '../../tools/provenance.ts'

/**
 * A reasoning item is read as one part per section, each with the id of the item. Signatures and encrypted reasoning of
 * other vendors are packed into `encrypted_content`, which clients return unchanged.
 */

export function partsOfReasoningItem(item: JsonObject): ReasoningPart[] {
  const sealed = textAt(item, 'encrypted_content')
  const carried = sealed === undefined ? null : unpackForeign(sealed)
  const id = carried === null ? textAt(item, 'id') : undefined
  const sections = sectionsOf(item)
  const parts = (sections.length === 0 ? [{ text: '' }] : sections).map((section): ReasoningPart => ({
    type: 'reasoning',
    ...section,
    ...(id !== undefined && { id }),
  }))
  const last = parts.at(-1)
  if (last === undefined) return parts
  if (carried !== null) Object.assign(last, carried)
  else if (sealed !== undefined) last.opaque = withMaker('openai', sealed)
  return parts
}

/** Builds a reasoning item. `summary` is present even when empty, because clients rely on it. */
export function reasoningItem(parts: readonly ReasoningPart[], sealed: string | undefined): JsonObject {
  const texts = parts.filter((part) => part.text !== '')
  const content = texts.filter((part) => part.verbatim).map((part) => ({ type: 'reasoning_text', text: part.text }))
  return {
    type: 'reasoning',
    summary: texts.filter((part) => !part.verbatim).map((part) => ({ type: 'summary_text', text: part.text })),
    ...(content.length > 0 && { content }),
    ...(sealed !== undefined && { encrypted_content: sealed }),
  }
}

/** The encrypted content of OpenAI, without the vendor prefix. */
export function ownEncryptedContent(parts: readonly ReasoningPart[]): string | undefined {
  for (const { opaque } of parts) {
    const own = opaque === undefined ? null : madeBy('openai', opaque)
    if (own !== null) return own
  }
}

/**
 * The encrypted content for clients. Reasoning without an id comes from a vendor of another format, and is packed so
 * that it returns to that vendor.
 */
export function encryptedContent(parts: readonly ReasoningPart[]): string | undefined {
  const own = ownEncryptedContent(parts)
  const last = parts.at(-1)
  return own ?? (last === undefined || last.id !== undefined ? undefined : packForeign(last))
}

/** Proof of reasoning that a vendor of another format made. */
interface ForeignReasoning {
  signature?: string
  opaque?: string
}

function packForeign({ signature, opaque }: ForeignReasoning): string {
  return MARK + Buffer.from(JSON.stringify({ signature, opaque })).toString('base64url')
}

function unpackForeign(sealed: string): ForeignReasoning | null {
  if (!sealed.startsWith(MARK)) return null
  const carried = parseJsonObject(Buffer.from(sealed.slice(MARK.length), 'base64url').toString('utf8')) ?? {}
  const signature = textAt(carried, 'signature')
  const opaque = textAt(carried, 'opaque')
  return { ...(signature !== undefined && { signature }), ...(opaque !== undefined && { opaque }) }
}

function sectionsOf(item: JsonObject): Pick<ReasoningPart, 'text' | 'verbatim'>[] {
  return [
    ...objectsAt(item, 'content').map((section) => ({ text: textAt(section, 'text') ?? '', verbatim: true as const })),
    ...objectsAt(item, 'summary').map((section) => ({ text: textAt(section, 'text') ?? '' })),
  ]
}

/** Not a valid beginning of base64. */
const MARK = 'carried:'
