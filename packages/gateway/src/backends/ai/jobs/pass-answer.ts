import type { Loss, StreamFault } from '@portico/chat'
import { ObservedBody } from '@portico/http'
import type { UpstreamResponse } from '@portico/http/client'
import type { ProviderCall } from '../../../llm/providers/provider.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { FailoverCall } from '../failover-call.ts'
import type { ReadyProvider } from '../provider.ts'

/** A response on its way to the client. */
export interface PassingAnswer {
  chunk(chunk: Buffer): void
  /** Ends the response; returns the fault of a response that is not complete. */
  over(whole: boolean): StreamFault | null
}

/** Sends a response to the client while it arrives. After the first byte the call cannot move to another provider. */
export function passAnswer(
  { client, attempts, record, services }: FailoverCall,
  { status, headers, body }: Pick<UpstreamResponse, 'status' | 'headers' | 'body'>,
  answer: PassingAnswer,
): void {
  const { lease } = attempts
  const over = (whole: boolean, cause: Error | null): void => {
    record.endedAt = services.now()
    const fault = answer.over(whole)
    if (cause !== null || fault !== null) {
      lease?.failed()
      attempts.settle(cause === null ? 'unreadable' : 'connection_lost', true)
      client.noteFault(fault?.code ?? 'connection_lost', cause?.message ?? fault?.error.message ?? '')
    }
    lease?.ended()
  }
  if (body.length === 0) over(true, null)
  const observer = {
    chunk(chunk: Buffer): void {
      if (record.firstTokenAt === -1) record.firstTokenAt = services.now()
      answer.chunk(chunk)
    },
    over,
  }
  client.send(status, headers.clone(), body.length === 0 ? body : new ObservedBody(body, observer))
}

/** Notes the request of a job in the trace. */
export function noteJob(
  { trace }: RequestContext,
  { name, vendor }: ReadyProvider,
  { call, from, to, losses }: { call: ProviderCall; from: string; to: string; losses: readonly Loss[] },
): void {
  trace?.emit({
    type: 'llmRequest',
    provider: name,
    vendor: vendor.telemetryName,
    clientFormat: from,
    upstreamFormat: to,
    passedThrough: from === to,
    model: call.model,
    streaming: false,
    losses,
  })
}
