import { isGrpcContentType } from '@portico/http/grpc'
import { HeaderBlock, mayBeTrailer } from '@portico/http'
import type { Side } from './side.ts'
import { failureReply } from '../compiled/failure-reply.ts'
import { applyEdit, editsOf, InvalidHeader, isEditable, valueOf } from '../policy/header-edit.ts'
import { Reply } from '../context/reply.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { HeaderMutation, ImmediateResponse } from '../../protos/envoy/service/ext_proc/v3/external_processor.ts'

/** The names of changed headers, for traces. */
export interface HeaderChanges {
  readonly set: readonly string[]
  readonly removed: readonly string[]
}

/** Removes headers, then sets headers; changes nothing when a header is invalid. `part` of a side is the pseudo-header that may change. */
export function applyMutation(
  mutation: HeaderMutation | undefined,
  { message, part }: Pick<Side, 'message' | 'part'>,
): HeaderChanges | InvalidHeader {
  if (mutation === undefined) return UNCHANGED
  const edits = editsOf(mutation.setHeaders)
  if (edits instanceof InvalidHeader) return edits
  const { headers } = message
  const set: string[] = []
  const removed = mutation.removeHeaders.map((each) => each.toLowerCase()).filter(isEditable)
  for (const name of removed) headers.removeAlike(name)
  for (const { header } of mutation.setHeaders) {
    if (header?.key === part && message.setPart(part, valueOf(header))) set.push(part)
  }
  for (const edit of edits) {
    applyEdit(edit, headers)
    set.push(edit.name)
  }
  return { set, removed }
}

const UNCHANGED: HeaderChanges = { set: [], removed: [] }

/** Trailers as the processor wants them: nothing may come late that policies have judged already. */
export function changedTrailers(
  trailers: HeaderBlock,
  mutation: HeaderMutation | undefined,
): HeaderBlock | InvalidHeader {
  const edits = editsOf(mutation?.setHeaders ?? [])
  if (edits instanceof InvalidHeader) return edits
  const changed = trailers.clone()
  for (const name of mutation?.removeHeaders ?? []) changed.remove(name.toLowerCase())
  for (const edit of edits) if (mayBeTrailer(edit.name)) applyEdit(edit, changed)
  return changed
}

/** The immediate response of the processor; in the form of gRPC for gRPC clients. */
export function immediateReply(response: ImmediateResponse, rx: RequestContext): Reply | InvalidHeader {
  const { status, headers: mutation, body, grpcStatus, details } = response
  const code = status?.code ?? 0
  const edits = editsOf(mutation?.setHeaders ?? [])
  if (edits instanceof InvalidHeader) return edits
  const headers = new HeaderBlock()
  for (const edit of edits) applyEdit(edit, headers)
  const type = rx.headers.get('content-type')
  if (type === null || !isGrpcContentType(type)) {
    // Browsers must not guess the type of a body without a content type.
    if (body.length > 0 && !headers.has('content-type')) headers.add('content-type', 'text/plain')
    return new Reply(statusOf(code), { headers, body: bufferOf(body), reason: 'ExtProc' })
  }
  const message = body.length > 0 ? bufferOf(body).toString('utf8') : details
  const reply = failureReply({ status: statusOf(code), message, reason: 'ExtProc' }, type)
  if (grpcStatus !== undefined) reply.headers.set('grpc-status', String(grpcStatus.status))
  else if (code === 0 || code === 200) reply.headers.set('grpc-status', '0')
  headers.forEach((name, value) => {
    if (name !== 'content-type') reply.headers.add(name, value)
  })
  return reply
}

/** The same bytes. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

function statusOf(code: number): number {
  return code === 0 ? 200 : code >= 200 && code <= 599 ? code : 500
}
