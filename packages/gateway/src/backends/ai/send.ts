import type { ProviderCall } from '../../llm/providers/provider.ts'
import { Unsupported } from '@portico/chat'
import { VENDOR_CREDENTIAL_HEADERS } from '../../redaction/credential-names.ts'
import { sendAttempt } from '../../pipeline/call/send-attempt.ts'
import { withholdClientHeaders } from '../../pipeline/policy/withhold-client-headers.ts'
import type { Failure } from '../../pipeline/context/failure.ts'
import type { OutgoingRequest } from '../../pipeline/context/outgoing.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { CallContext } from '../../pipeline/context/step.ts'
import type { UpstreamCall, UpstreamHandler } from '@portico/http/client'
import type { ReadyProvider } from './provider.ts'

export interface SendParts {
  outgoing: OutgoingRequest
  rx: RequestContext
  context: CallContext
  handler: UpstreamHandler
  /** False when the caller no longer needs the response. */
  isWanted: () => boolean
  bug: (error: unknown) => void
  /** Called when the request cannot be sent. */
  refused: (why: Failure | Unsupported) => void
  sent: (call: UpstreamCall) => void
}

/** Sends a call with the host, path, policies and headers of the provider. */
export function sendTo(provider: ReadyProvider, call: ProviderCall, parts: SendParts): void {
  const { outgoing, rx, context, handler, isWanted, bug, refused, sent } = parts
  const { vendor, connection, credential } = provider
  const path = vendor.target(call)
  if (path instanceof Unsupported) return refused(path)
  if (credential.by === 'nobody') noteWithheldKey(rx, provider, outgoing)
  withholdClientHeaders(outgoing.headers, { keepsKey: credential.by === 'client' })
  outgoing.target = path
  outgoing.authority = vendor.destination.authority
  const finish = (): void => vendor.finishHeaders(outgoing.headers, call, credential)
  sendAttempt(connection, { outgoing, rx, context, handler, isWanted, bug, refused, sent, finish })
}

/** Notes in the trace that the client's key was withheld, which may be why the provider refuses the call. */
function noteWithheldKey({ trace }: RequestContext, { name }: ReadyProvider, { headers }: OutgoingRequest): void {
  if (trace === null || !VENDOR_CREDENTIAL_HEADERS.some((header) => headers.has(header))) return
  const reason = "the client's key is for the first provider of the backend, and this one has no `auth` policy"
  trace.emit({ type: 'llmKeyWithheld', provider: name, reason }, 'warn')
}
