import type { RequestBatch } from '@portico/gateway/admin-api'
import { createParser } from 'eventsource-parser'
import { type Asking, openAdmin, readAll, refusal } from './ask-admin.ts'

const ANSWER_WITHIN_MS = 30_000

/** Tells of requests as they end. What went wrong; null where it was stopped. */
export async function followAdmin(
  asking: Asking & { readonly signal: AbortSignal },
  told: (batch: RequestBatch) => void,
): Promise<string | null> {
  const opened = await openAdmin(asking, ANSWER_WITHIN_MS)
  if (opened.kind === 'problem') return asking.signal.aborted ? null : opened.problem
  const { response } = opened
  if (response.statusCode !== 200) return refusal(asking, response, await readAll(response))
  const parser = createParser({ onEvent: ({ data }) => told(JSON.parse(data) as RequestBatch) })
  response.setEncoding('utf8')
  try {
    for await (const chunk of response) parser.feed(String(chunk))
  } catch {
    // Told below.
  }
  return asking.signal.aborted ? null : `${asking.admin.label} ended the stream: did the gateway stop?`
}
