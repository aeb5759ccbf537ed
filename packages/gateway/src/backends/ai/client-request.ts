import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import { isUtf8 } from 'node:buffer'
import {
  countMembers,
  countNames,
  findMembers,
  isObject,
  type JsonMember,
  type JsonMembers,
  parseJson,
  type SplicedText,
} from '@portico/http/json'
import { type JsonObject, UnsupportedField } from '@portico/chat'
import { withHiddenParameter } from '../../formats/query-parameters.ts'
import type { Failure } from '../../pipeline/context/failure.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { HeaderBlock } from '@portico/http'
import type { RouteType } from '../../llm/edits/schema.ts'
import { DEFAULT_ROUTES } from './route-types.ts'
import type { ModelListFormat } from '../../llm/providers/model-list.ts'

/**
 * Finds the route type of a request by the suffix of its path (without query): the longest matching suffix, then `*`;
 * null when nothing matches.
 */
export function createRouteTypes(
  routes: Readonly<Record<string, RouteType>> = DEFAULT_ROUTES,
): (path: string) => RouteType | null {
  const ends = Object.entries(routes)
    .filter(([end]) => end !== '*')
    .sort(([a], [b]) => b.length - a.length)
  const otherwise = (Object.hasOwn(routes, '*') ? routes['*'] : undefined) ?? null
  const find = (path: string): RouteType | undefined => ends.find(([end]) => path.endsWith(end))?.[1]
  return (path) => find(path) ?? (RESOURCE.test(path) ? batchesOr(find(path.replace(RESOURCE, '$1'))) : otherwise)

  /** The path of a single file or batch has the route type of the list's path. */
  function batchesOr(type: RouteType | undefined): RouteType | null {
    return type === 'Batches' ? type : otherwise
  }
}

/** Matches the path of a single file or batch. */
const RESOURCE = /(\/(?:files|batches))\/[^/]+(?:\/(?:content|cancel|results))?$/

/**
 * The model named in a vendor-specific path, for clients that name the model nowhere else; null when the path has no
 * model.
 */
export function modelInPath(path: string): string | null {
  const model = PATHS.map((pattern) => pattern.exec(path)?.[1]).find((found) => found !== undefined)
  return model === undefined || UNFIT.test(model) ? null : model
}

/** The vendor whose library sent a request for the list of models, which ends in `/models` for all vendors. */
export function modelListFormat(path: string, headers: Pick<HeaderBlock, 'has'>): ModelListFormat {
  // Only Anthropic's libraries send a version.
  if (headers.has('anthropic-version')) return 'anthropic'
  return /\/v1(?:alpha|beta)\d*\/models\b/.test(path) ? 'gemini' : 'openai'
}

const PATHS = [
  /\/(?:models|tunedModels)\/([^/:]+):(?:stream)?(?:rawPredict|RawPredict|generateContent|GenerateContent|countTokens|embedContent|batchEmbedContents|predict)$/,
  /\/model\/([^/]+)\/(?:converse|converse-stream|invoke|invoke-with-response-stream|count-tokens)$/,
  /\/openai\/deployments\/([^/]+)\//,
]
/** Sequences that a vendor could interpret as something other than a model name. */
const UNFIT = /\.\.|%|[\0-\x1f\x7f]/

/** Hides the key that clients of Google's API may send in the query from logs and records. */
export function hideKey(rx: Pick<RequestContext, 'target'>): void {
  if (rx.target.includes('?')) rx.target = withHiddenParameter(rx.target, 'key')
}

/** Decodes the content encoding of a request body; an unsupported encoding or a malformed body is refused. */
export function decodeBody(bytes: Buffer, encoding: string | null, maxBytes: number): Buffer | Failure {
  if (encoding === null) return bytes
  const name = encoding.trim().toLowerCase()
  if (name === 'identity' || name === '') return bytes
  const decode = Object.hasOwn(DECODERS, name) ? DECODERS[name as keyof typeof DECODERS] : null
  if (decode === null) return undecodable(415, `unsupported content encoding ${name}`)
  try {
    // A few bytes can decompress to gigabytes.
    return decode(bytes, { maxOutputLength: maxBytes })
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
    return isTooLarge ? undecodable(413, 'too large') : undecodable(400, `the body is not ${name}`)
  }
}

const DECODERS = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
}

function undecodable(status: number, why: string): Failure {
  return {
    status,
    message: `failed to process LLM request: ${why}`,
    reason: 'InvalidRequest',
    code: 'undecodable_body',
  }
}

/** The body of a client: its parsed value, and the position of each top-level member in its bytes. */
export class JsonBody implements SplicedText {
  readonly bytes: Buffer
  readonly value: JsonObject
  #found: JsonMembers | null = null

  constructor(bytes: Buffer, value: JsonObject) {
    this.bytes = bytes
    this.value = value
  }

  get members(): readonly JsonMember[] {
    return this.#members().members
  }

  get open(): number {
    return this.#members().open
  }

  /** Located on first use: only edited members need their position in the bytes. */
  #members(): JsonMembers {
    this.#found ??= findMembers(this.bytes)
    if (this.#found === null) throw new Error('a JSON object without members')
    return this.#found
  }
}

/**
 * Reads a body that may be forwarded byte for byte. Bodies that the provider could parse differently from the gateway
 * are refused: bytes that are not UTF-8, and duplicate names in an object at any depth.
 */
export function readJsonBody(bytes: Buffer): JsonBody | UnsupportedField {
  if (!isUtf8(bytes)) return new UnsupportedField('body', 'must be UTF-8')
  const text = bytes.toString('utf8')
  const parsed = parseJson(text)
  if (parsed === null) return new UnsupportedField('body', 'must be JSON')
  const { value } = parsed
  if (!isObject(value)) return new UnsupportedField('body', 'must be a JSON object')
  const body = new JsonBody(bytes, value)
  return countMembers(value) === countNames(text) ? body : new UnsupportedField(...duplicateName(body))
}

function duplicateName({ members }: JsonBody): [field: string, message: string] {
  const names = members.map(({ name }) => name)
  const duplicate = names.find((name, at) => names.indexOf(name) !== at)
  return duplicate === undefined
    ? ['body', 'has an object with a duplicate member name']
    : [duplicate, 'occurs twice in the body']
}
