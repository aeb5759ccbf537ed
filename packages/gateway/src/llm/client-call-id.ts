import type { ToolCallPart } from './middle.ts'
import { madeBy, withMaker } from './provenance.ts'

/**
 * Gemini wants the signature of a tool call back, and no client format has a place for it that every client library
 * returns. The id of the call is such a place: `<id>__thought__<signature>`, in the alphabet that all vendors take.
 */

type SignedId = Pick<ToolCallPart, 'id' | 'signature'>

/** The id that a client gets: it brings Google's signature back. */
export function clientCallId({ id, signature }: SignedId): string {
  const bare = signature === undefined ? null : madeBy('google', signature)
  return bare === null || splitCallId(id).signature !== undefined ? id : callIdWithSignature(id, bare)
}

/** What a client's id says. */
export function fromClientCallId(clientId: string): SignedId {
  const { id, signature } = splitCallId(clientId)
  return signature === undefined ? { id } : { id, signature: withMaker('google', signature) }
}

export function callIdWithSignature(id: string, signature: string): string {
  const bytes = Buffer.from(signature, 'base64')
  return bytes.toString('base64') === signature ? `${id}${MARK}${bytes.toString('base64url')}` : id
}

export function splitCallId(id: string): { id: string; signature?: string } {
  const at = id.indexOf(MARK)
  if (at === -1) return { id }
  const signature = Buffer.from(id.slice(at + MARK.length), 'base64url').toString('base64')
  return { id: id.slice(0, at), signature }
}

const MARK = '__thought__'
