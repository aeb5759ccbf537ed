import { HeaderBlock, sourceOf } from '@portico/http'
import { type JsonObject, objectsAt, parseJsonObject, textAt } from '@portico/http/json'
import { CalloutFault, Callouts } from '../../pipeline/callouts/callouts.ts'
import { ownContext } from '../../pipeline/callouts/own-request.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { Env } from '../../pipeline/context/step.ts'
import { toUnitVector, type UnitVector } from './unit-vector.ts'

interface EmbedderSettings {
  /** The key of the backend. */
  readonly backend: string
  readonly model: string
  /** Absent for the model's own number. */
  readonly dimensions: number | undefined
  readonly timeoutMs: number
}

/** The embedding of a text. Vectors of different spaces have nothing in common. */
interface Embedding {
  readonly vector: UnitVector
  /** The model as the provider names it, with its number of dimensions. */
  readonly space: string
}

/** Why there is no embedding. */
type EmbeddingFailure = 'timeout' | 'failed' | 'unusable' | 'paused'

/**
 * Asks a backend of the config for embeddings, with the policies of the backend. Each call is a request of its own, so
 * that it changes nothing of the request that it is made for; only its tokens and its cost are added there.
 */
export class Embedder {
  /** Names the config: vectors that different configs have obtained are not compared. */
  readonly fingerprint: readonly string[]
  readonly #settings: EmbedderSettings
  readonly #env: Env
  #callouts: Callouts | null = null
  #failures = 0
  #pausedUntil = -Infinity

  constructor(settings: EmbedderSettings, env: Env) {
    const { backend, model, dimensions } = settings
    this.#settings = settings
    this.#env = env
    this.fingerprint = [env.describe(backend).content, model, String(dimensions ?? '')]
  }

  async embed(rx: RequestContext, text: string): Promise<Embedding | EmbeddingFailure> {
    if (this.#env.monotonic() < this.#pausedUntil) return 'paused'
    const answer = await this.#ask(rx, text)
    const embedding = answer instanceof CalloutFault ? failureOf(answer) : embeddingIn(answer)
    if (typeof embedding !== 'string') this.#failures = 0
    else if (!rx.isOver) this.#failed()
    return embedding
  }

  #failed(): void {
    this.#failures += 1
    if (this.#failures < MOST_FAILURES) return
    this.#failures = 0
    this.#pausedUntil = this.#env.monotonic() + PAUSE_MS
  }

  async #ask(rx: RequestContext, text: string): Promise<JsonObject | null | CalloutFault> {
    const { model, dimensions, timeoutMs, backend } = this.#settings
    // The backend may be the one with this cache, so it is compiled when it is first called.
    const callouts = (this.#callouts ??= new Callouts('Embeddings', backend, this.#env))
    const body = Buffer.from(JSON.stringify({ model, input: text, ...(dimensions !== undefined && { dimensions }) }))
    const own = requestFor(rx, body, this.#env.deadlines.now())
    const giveUp = (): void => own.giveUpCallouts()
    ;(rx.callouts ??= new Set()).add(giveUp)
    const request = {
      method: 'POST',
      target: PATH,
      authority: callouts.authority,
      headers: HeaderBlock.of([['content-type', 'application/json']]),
      body: sourceOf(body),
      upgrade: '',
      teTrailers: false,
    }
    const answer = await callouts.fetch(own, request, { timeoutMs, problemOf: ({ status }) => problemOf(status) })
    rx.callouts.delete(giveUp)
    if (rx.llm !== null && own.llm !== null) rx.llm.lookups = [...rx.llm.lookups, ...own.llm.charges]
    return answer instanceof CalloutFault ? answer : parseJsonObject(answer.body.toString('utf8'))
  }
}

/** A request of the same client, without the client's credentials. */
function requestFor(rx: RequestContext, body: Buffer, now: number): RequestContext {
  const { connection, exchange } = rx
  const { rx: own } = ownContext({ path: PATH, authority: rx.authority, connection, hops: exchange.hops }, now)
  const { apiKey, apiKeyName, basicAuth, jwt, route, requestId, spans } = rx
  own.body = sourceOf(body)
  own.headers.add('content-type', 'application/json')
  // A fault of the call is a failure of the call alone.
  own.runner = { interrupt: () => false, faulted: () => own.giveUpCallouts() }
  return Object.assign(own, { apiKey, apiKeyName, basicAuth, jwt, route, requestId, spans })
}

function problemOf(status: number): string | null {
  return status === 200 ? null : `status ${status}`
}

function failureOf({ outcome }: CalloutFault): EmbeddingFailure {
  return outcome === 'timeout' ? 'timeout' : 'failed'
}

/** Reads a response in OpenAI's form. */
function embeddingIn(answer: JsonObject | null): Embedding | 'unusable' {
  if (answer === null) return 'unusable'
  const [first, ...others] = objectsAt(answer, 'data')
  if (first === undefined || others.length > 0) return 'unusable'
  const { embedding } = first
  const numbers = typeof embedding === 'string' ? floatsOf(Buffer.from(embedding, 'base64')) : embedding
  const isList = Array.isArray(numbers) || numbers instanceof Float32Array
  const vector = isList ? toUnitVector(numbers) : null
  return vector === null ? 'unusable' : { vector, space: `${textAt(answer, 'model') ?? ''} ${vector.dimensions}` }
}

/** 32-bit numbers in little-endian order, as OpenAI encodes them. */
function floatsOf(bytes: Buffer): Float32Array | null {
  if (bytes.length % 4 !== 0) return null
  return Float32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(4 * at))
}

const PATH = '/v1/embeddings'
/** After so many failures in a row, requests are not held up for a while. */
const MOST_FAILURES = 3
const PAUSE_MS = 5_000
