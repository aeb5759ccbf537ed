/**
 * Gemini wants the signature of a tool call back, and no client format has a place for it that every client library
 * returns. The id of the call is such a place: `<id>__thought__<signature>`, in the alphabet that all vendors take.
 */

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
