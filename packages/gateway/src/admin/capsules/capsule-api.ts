import type { IncomingMessage } from 'node:http'
import type { Capsule } from '../../capsule/capsule.ts'
import type { RequestRecord } from '../../telemetry/recorder/record.ts'
import { pathOf, type Reply, text } from '../http.ts'
import type { RequestsSource } from '../requests.ts'

/** The capsules of this gateway, which the main thread provides. */
export interface CapsuleSource {
  /** Writes the capsule of a record; the run ends early when `signal` aborts. */
  capsule(record: RequestRecord, signal: AbortSignal): Promise<CapsuleOutcome>
}

export type CapsuleOutcome =
  | { readonly kind: 'done'; readonly capsule: Capsule }
  /** The gateway no longer has the config that decided the request. */
  | { readonly kind: 'closed'; readonly reason: string }
  /** Another simulation is in progress. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'failed'; readonly reason: string }

interface CapsuleParts {
  readonly requests: Pick<RequestsSource, 'get'>
  readonly capsules: CapsuleSource
}

/** Returns the response to a request for a capsule; null for other paths. */
export function answerCapsule(request: IncomingMessage, parts: CapsuleParts): Reply | Promise<Reply> | null {
  const [, id] = /^\/api\/requests\/([0-9a-z]{1,32})\/capsule$/.exec(pathOf(request) ?? '') ?? []
  if (id === undefined) return null
  const record = parts.requests.get(id)
  if (record === null) return text(404, `no record ${id}: it never existed, or newer records replaced it\n`)
  return capsuleOf(record, request, parts.capsules)
}

async function capsuleOf(record: RequestRecord, { socket }: IncomingMessage, source: CapsuleSource): Promise<Reply> {
  const left = new AbortController()
  const leave = (): void => left.abort()
  socket.once('close', leave)
  const outcome = await source.capsule(record, left.signal)
  socket.off('close', leave)
  switch (outcome.kind) {
    case 'done':
      return { status: 200, type: 'application/json', body: `${JSON.stringify(outcome.capsule, null, 2)}\n` }
    case 'closed':
      return text(409, `${outcome.reason}\n`)
    case 'busy':
      return text(429, 'another simulation is running: try again when it has ended\n', { 'retry-after': '5' })
    case 'failed':
      return text(503, `${outcome.reason}\n`)
  }
}
