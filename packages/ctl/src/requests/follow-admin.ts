import type { RequestBatch } from '@portico/gateway/admin-api'
import { createParser } from 'eventsource-parser'
import { type AdminRequest, openAdmin, readAll, refusal } from './ask-admin.ts'

const ANSWER_WITHIN_MS = 30_000

/**
 * Streams the gateway's requests as they end. The stream has all requests that end after the call of `opened`. Resolves
 * with the error; null when the stream was stopped.
 */
export async function followAdmin(
  adminRequest: AdminRequest & { readonly signal: AbortSignal; readonly opened?: () => void },
  told: (batch: RequestBatch) => void,
): Promise<string | null> {
  const opened = await openAdmin(adminRequest, ANSWER_WITHIN_MS)
  if (opened.kind === 'problem') return adminRequest.signal.aborted ? null : opened.problem
  const { response } = opened
  if (response.statusCode !== 200) return refusal(adminRequest, response, await readAll(response))
  adminRequest.opened?.()
  const parser = createParser({ onEvent: ({ data }) => told(JSON.parse(data) as RequestBatch) })
  response.setEncoding('utf8')
  try {
    for await (const chunk of response) parser.feed(String(chunk))
  } catch {
    // The failure is reported below.
  }
  return adminRequest.signal.aborted ? null : `${adminRequest.admin.label} ended the stream: did the gateway stop?`
}
