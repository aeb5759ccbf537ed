import { lose } from '../request/carry-over.ts'
import { type Json, type JsonObject, type Loss, type Usage, UnsupportedField } from '../middle.ts'
import type { EmbeddingRequest, Embeddings, EmbeddingUpstream, Vector } from './embedding.ts'

/** Helpers shared by the formats of providers other than OpenAI. */

/** The inputs as texts. Token ids are refused, because they only have a meaning for OpenAI's models. */
export function textsOf({ inputs }: EmbeddingRequest): string[] | UnsupportedField {
  const texts = inputs.filter((input) => typeof input === 'string')
  return texts.length === inputs.length
    ? texts
    : new UnsupportedField('input', 'this provider takes texts, not tokens: send input as text')
}

/** One request per text when the provider takes one text at a time; otherwise the request itself. */
export function requestsOf(
  request: EmbeddingRequest,
  { isSingle }: EmbeddingUpstream,
): EmbeddingRequest[] | UnsupportedField {
  if (isSingle !== true || request.inputs.length <= 1) return [request]
  if (request.inputs.length > MAX_REQUESTS) {
    return new UnsupportedField('input', `this model takes one text at a time: send at most ${MAX_REQUESTS} texts`)
  }
  return request.inputs.map((input) => ({ ...request, inputs: [input] }))
}

/** The requests run one after the other while the client waits. */
const MAX_REQUESTS = 256

/** Merges several responses: all vectors, and the sum of the tokens. */
export function joinEmbeddings(all: readonly Embeddings[]): Embeddings {
  const usages = all.map(({ usage }) => usage)
  const tokens = usages.every((usage) => usage?.input !== undefined)
    ? usages.reduce((sum, usage) => sum + (usage?.input ?? 0), 0)
    : undefined
  return { model: all[0]?.model ?? '', vectors: all.flatMap(({ vectors }) => vectors), usage: inputUsage(tokens) }
}

export function onlyTextOf(request: EmbeddingRequest): string | UnsupportedField {
  const texts = textsOf(request)
  if (texts instanceof UnsupportedField) return texts
  const [text, ...others] = texts
  return text !== undefined && others.length === 0
    ? text
    : new UnsupportedField('input', 'this model takes exactly one text in a request: send one request for each')
}

/**
 * The client's fields that the provider supports, renamed by `names` (client's name to provider's name); other fields
 * are reported as losses.
 */
export function carryKnown(
  { rest, user }: EmbeddingRequest,
  names: Readonly<Record<string, string>>,
  losses: Loss[],
): JsonObject {
  const known: [string, Json][] = []
  for (const [name, value] of Object.entries(rest)) {
    const theirs = Object.hasOwn(names, name) ? names[name] : undefined
    if (theirs !== undefined && value !== null) known.push([theirs, value])
    else if (value !== null) lose(losses, { what: 'dropped', path: name })
  }
  if (user !== null) lose(losses, { what: 'dropped', path: 'user' })
  return Object.fromEntries(known)
}

export function inputUsage(tokens: number | undefined): Usage | null {
  return tokens === undefined ? null : { input: tokens, providerInput: tokens, providerTotal: tokens }
}

/** The token count that Bedrock sends in a header, for models whose response has no count. */
export function countedByHeader(header: (name: string) => string | undefined): number | undefined {
  const text = header('x-amzn-bedrock-input-token-count')
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

export function isVector(value: Json | undefined): value is number[] {
  return Array.isArray(value) && value.every((number) => typeof number === 'number')
}

export function encodeVector(vector: Vector, encoding: 'float' | 'base64'): Vector {
  if (typeof vector === 'string') return encoding === 'base64' ? vector : floatsOf(vector)
  return encoding === 'base64' ? base64Of(vector) : vector
}

function base64Of(vector: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * FLOAT_SIZE)
  for (const [at, number] of vector.entries()) bytes.writeFloatLE(number, at * FLOAT_SIZE)
  return bytes.toString('base64')
}

function floatsOf(base64: string): number[] {
  const bytes = Buffer.from(base64, 'base64')
  return Array.from({ length: Math.floor(bytes.length / FLOAT_SIZE) }, (_, at) => bytes.readFloatLE(at * FLOAT_SIZE))
}

const FLOAT_SIZE = 4
