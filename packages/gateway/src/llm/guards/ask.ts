import { HeaderBlock } from '@portico/http'
import { fetchText } from '../../pipeline/callouts/fetch-text.ts'
import type { BackendClient } from '../../pipeline/context/step.ts'
import { isObject, parseJson } from '@portico/http/json'
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

export type GuardMethod = 'POST' | 'PUT' | 'PATCH'

export interface SignableRequest {
  method: GuardMethod
  authority: string
  /** The path, with the query if present. */
  target: string
  headers: SignedHeaders
  body: Buffer
}

type SignedHeaders = readonly (readonly [name: string, value: string])[]

interface Question {
  body: Json
  method?: GuardMethod
  /** Headers in lower case; they replace the gateway's own headers of the same name. */
  headers?: SignedHeaders
  context?: Pick<GuardContext, 'span' | 'rx'>
}

/** Like `askAny`, for services whose responses are JSON objects. */
export async function ask(target: GuardTarget, path: string, question: Question): Promise<JsonObject> {
  const { body } = await askAny(target, path, question)
  if (!isObject(body)) throw new Error('the answer is not JSON')
  return body
}

/**
 * Sends one JSON request to the guard service and returns its JSON response. Rejects with a reason that contains none
 * of the texts.
 */
export async function askAny(
  { client, authority, timeoutMs = DEFAULT_TIMEOUT_MS, sign }: GuardTarget,
  target: string,
  { method = 'POST', headers: more = [], ...question }: Question,
): Promise<{ status: number; body: Json }> {
  const body = Buffer.from(JSON.stringify(question.body))
  const names = new Set(more.map(([name]) => name))
  const plain: SignedHeaders = [...OWN_HEADERS.filter(([name]) => !names.has(name)), ...more]
  const signed = sign === undefined ? [] : await signWith(sign, { method, authority, target, headers: plain, body })
  const headers = HeaderBlock.of([...plain, ...signed])
  // Masked texts may be as long as the originals, or longer.
  const maxBytes = SPARE_BYTES + 2 * body.length
  const { status, text } = await fetchText(client, {
    authority,
    target,
    maxBytes,
    timeoutMs,
    post: { method, headers, body },
    ...question.context,
  })
  const answer = parseJson(text)
  if (answer === null) throw new Error('the answer is not JSON')
  return { status, body: answer.value }
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

const OWN_HEADERS: SignedHeaders = [
  ['content-type', 'application/json'],
  ['accept', 'application/json'],
]
const DEFAULT_TIMEOUT_MS = 10_000
const SPARE_BYTES = 1_048_576
