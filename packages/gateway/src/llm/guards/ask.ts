import { HeaderBlock } from '@portico/http'
import { fetchText } from '../../pipeline/callouts/fetch-text.ts'
import type { BackendClient } from '../../pipeline/context/step.ts'
import { parseJsonObject } from '@portico/http/json'
import type { Json, JsonObject } from '@portico/chat'
import type { GuardContext } from './guard.ts'

/** A service that checks texts. */
export interface GuardTarget {
  client: BackendClient
  /** The value of the `Host` header. */
  authority: string
  /** In milliseconds; 10 seconds by default. */
  timeoutMs?: number
  /** Signs this one request: returns the headers with a token or a signature. */
  sign?: Sign
}

export type Sign = (request: SignableRequest) => SignedHeaders | Promise<SignedHeaders>

export interface SignableRequest {
  method: 'POST'
  authority: string
  /** The path, with the query if present. */
  target: string
  headers: SignedHeaders
  body: Buffer
}

type SignedHeaders = readonly (readonly [name: string, value: string])[]

/**
 * Sends one JSON request to the guard service and returns its JSON response. Rejects with a reason that contains none
 * of the texts.
 */
export async function ask(
  { client, authority, timeoutMs = DEFAULT_TIMEOUT_MS, sign }: GuardTarget,
  target: string,
  question: { body: Json; headers?: SignedHeaders; span?: GuardContext['span'] },
): Promise<JsonObject> {
  const body = Buffer.from(JSON.stringify(question.body))
  const plain: SignedHeaders = [
    ['content-type', 'application/json'],
    ['accept', 'application/json'],
    ...(question.headers ?? []),
  ]
  const signed =
    sign === undefined ? [] : await signWith(sign, { method: 'POST', authority, target, headers: plain, body })
  const headers = HeaderBlock.of([...plain, ...signed])
  // Masked texts may be as long as the originals, or longer.
  const maxBytes = SPARE_BYTES + 2 * body.length
  const { text } = await fetchText(client, {
    authority,
    target,
    maxBytes,
    timeoutMs,
    post: { headers, body },
    span: question.span,
  })
  const answer = parseJsonObject(text)
  if (answer === null) throw new Error('the answer is not JSON')
  return answer
}

/** The reason of a failure, for the trace. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'the call to the guard service failed'
}

async function signWith(sign: Sign, request: SignableRequest): Promise<SignedHeaders> {
  try {
    return await sign(request)
  } catch {
    // The thrown error may contain a credential.
    throw new Error('the request could not be signed')
  }
}

const DEFAULT_TIMEOUT_MS = 10_000
const SPARE_BYTES = 1_048_576
