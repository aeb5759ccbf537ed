import type { ToolCallPart } from '../middle.ts'
import { madeBy, withMaker } from './provenance.ts'
import { crc32 } from 'node:zlib'

/**
 * Gemini requires the signature of a tool call back, and no client format has a field for the signature that every
 * client library returns. The gateway appends the signature to the call id, `<id>__thought__<signature>`, in characters
 * that all vendors accept in ids.
 */

type SignedId = Pick<ToolCallPart, 'id' | 'signature'>

/** The call id to send to the client. Google's signature is part of the id, so the client returns the signature too. */
export function clientCallId({ id, signature }: SignedId): string {
  const bare = signature === undefined ? null : madeBy('google', signature)
  return bare === null || splitCallId(id).signature !== undefined ? id : callIdWithSignature(id, bare)
}

/** Splits a call id that a client sent into the provider's id and Google's signature. */
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

/**
 * A tool call id in the characters and the length that a vendor accepts. Equal ids give equal results, so that a call
 * and its result still match.
 */
export function fitCallId(id: string, maxLength: number): string {
  if (id !== '' && id.length <= maxLength && !INVALID.test(id)) return id
  const hash = crc32(id).toString(16).padStart(HASH_LENGTH, '0')
  const kept = id.replaceAll(new RegExp(INVALID, 'g'), '_').slice(0, maxLength - 1 - HASH_LENGTH)
  return `${kept}_${hash}`
}

const INVALID = /[^A-Za-z0-9_-]/
const HASH_LENGTH = 8
