import { type ChatError, type ClientFormat, kindOfStatus } from '@portico/chat'
import { encodeRerankError } from '@portico/chat/rerank'
import { LlmRecord } from '../../records/llm-record.ts'
import type { TellFailure, RequestContext } from '../../pipeline/context/request-context.ts'
import { targetPath } from '../../formats/query-parameters.ts'
import { hideKey, modelListFormat } from './client-request.ts'
import { ROUTE_TYPES } from './route-types.ts'
import type { RouteType } from '../../llm/edits/schema.ts'

type ErrorFormat = 'completions' | 'messages' | 'responses' | 'rerank' | 'gemini' | 'bedrock'

/**
 * Encodes errors of the gateway itself in the format that the client's library expects. The record counts the refused
 * request as a model call.
 */
export function createTellFailure(
  routeType: (path: string) => RouteType | null,
  clientFormats: Readonly<
    Record<'completions' | 'messages' | 'responses' | 'gemini', Pick<ClientFormat, 'encodeError'>>
  >,
): TellFailure {
  return ({ status, failure, reason }, rx) => {
    hideKey(rx)
    const path = targetPath(rx.upstreamTarget)
    const type = routeType(path) ?? untypedRoute(path)
    if (type !== 'Passthrough') (rx.llm ??= new LlmRecord()).operation ??= ROUTE_TYPES[type].operation
    const format = formatOf(type, path, rx)
    if (format === null || failure === null) return null
    if (format === 'bedrock') {
      return json({ message: failure }, ['x-amzn-errortype', BEDROCK_TYPES.get(status) ?? 'InternalServerException'])
    }
    // A spent rate limit is plain text unless the client accepts JSON, as the libraries of OpenAI and Anthropic do.
    if (reason === 'RateLimit' && format !== 'gemini' && !/\bjson\b/i.test(rx.headers.joined('accept') ?? ''))
      return null
    const error = { status, kind: kindOfStatus(status), message: failure }
    const encode = format === 'rerank' ? encodeRerankError : clientFormats[format].encodeError
    return json(encode(withModelCode(error, format, rx)).body)
  }
}

/** Adds the code of a spent budget, or of a refused model. OpenAI reports the latter as an invalid request, whatever the status. */
function withModelCode(error: ChatError, format: ErrorFormat, { notes }: RequestContext): ChatError {
  const code = notes?.['code']
  if (code === 'budget_exceeded' || code === 'budget_unavailable') return { ...error, code }
  if (typeof code !== 'string' || !MODEL_CODES.has(code)) return error
  return {
    ...error,
    code,
    param: 'model',
    ...(format !== 'messages' && format !== 'gemini' && { kind: 'invalid' as const }),
  }
}

function json(body: object, ...headers: (readonly [string, string])[]): ReturnType<TellFailure> {
  return { headers: [['content-type', 'application/json'], ...headers], body: Buffer.from(JSON.stringify(body)) }
}

function formatOf(type: RouteType, path: string, { headers }: RequestContext): ErrorFormat | null {
  const { errors } = ROUTE_TYPES[type]
  if (errors === 'batch') return /\/messages\/batches\b/.test(path) ? 'messages' : 'completions'
  if (errors === 'list') return LIST_FORMATS[modelListFormat(path, headers)]
  return errors === 'path' ? (PATHS.find(([pattern]) => pattern.test(path))?.[1] ?? null) : errors
}

/** The type of a request that the config does not map, for the format of its error. */
function untypedRoute(path: string): RouteType {
  if (ONE_MODEL.test(path)) return 'Models'
  return PATHS.some(([pattern, format]) => format === 'gemini' && pattern.test(path))
    ? 'GenerateContent'
    : 'Completions'
}

/** A request for one model of the list. */
const ONE_MODEL = /\/models\/[^:]+$/

const LIST_FORMATS = { anthropic: 'messages', gemini: 'gemini', openai: 'completions' } as const

/** Paths that identify a vendor's library when the config does not name the format. */
const PATHS: readonly (readonly [RegExp, ErrorFormat])[] = [
  [/\/model\/[^/]+\/(?:converse|invoke|count-tokens)[a-z-]*$/, 'bedrock'],
  [/:(?:streamGenerateContent|generateContent|countTokens|embedContent|batchEmbedContents|predict)$/, 'gemini'],
  [/\/(?:messages|messages\/count_tokens)$/, 'messages'],
  [/\/responses$/, 'responses'],
  [/\/v1\//, 'completions'],
]

/** Refusals of models, which clients can tell apart by the code of the error. */
const MODEL_CODES: ReadonlySet<string> = new Set([
  'model_not_found',
  'model_not_allowed',
  'missing_model',
  'no_model_target',
])

const BEDROCK_TYPES: ReadonlyMap<number, string> = new Map([
  [400, 'ValidationException'],
  [401, 'AccessDeniedException'],
  [403, 'AccessDeniedException'],
  [404, 'ResourceNotFoundException'],
  [413, 'ValidationException'],
  [429, 'ThrottlingException'],
  [503, 'ServiceUnavailableException'],
  [504, 'ModelTimeoutException'],
])
