import { callIdWithSignature, splitCallId } from './call-id.ts'
import type { ToolCallPart } from '../middle.ts'
import { madeBy, withMaker } from '../provenance.ts'

type SignedId = Pick<ToolCallPart, 'id' | 'signature'>

/** The id that a client gets: it brings Google's signature back, which has no other place that every client returns. */
export function clientCallId({ id, signature }: SignedId): string {
  const bare = signature === undefined ? null : madeBy('google', signature)
  return bare === null || splitCallId(id).signature !== undefined ? id : callIdWithSignature(id, bare)
}

/** What a client's id says. */
export function fromClientCallId(clientId: string): SignedId {
  const { id, signature } = splitCallId(clientId)
  return signature === undefined ? { id } : { id, signature: withMaker('google', signature) }
}
