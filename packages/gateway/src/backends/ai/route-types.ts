import type { RouteType } from '../../llm/edits/schema.ts'
import type { ModelOperation } from '../../records/llm-record.ts'

/** The properties of one type of requests. */
interface RouteProperties {
  /** The operation in logs, metrics and records; null when only the provider knows it. */
  readonly operation: ModelOperation | null
  /**
   * The format of errors that the gateway itself writes. With `list` it depends on the client's library, with `path`
   * and `batch` on the request's path.
   */
  readonly errors: 'batch' | 'completions' | 'messages' | 'responses' | 'gemini' | 'rerank' | 'list' | 'path'
  /** The ends of paths that have this type when the config has no `routes`. */
  readonly ends: readonly string[]
}

/**
 * All types of requests. Without `routes` in the config, only requests that are counted and guarded, or harmless, have a
 * type; the operator must configure every other one explicitly.
 */
export const ROUTE_TYPES: Readonly<Record<RouteType, RouteProperties>> = {
  Completions: { operation: 'chat', errors: 'completions', ends: ['/chat/completions'] },
  Messages: { operation: 'chat', errors: 'messages', ends: ['/messages', ':rawPredict', ':streamRawPredict'] },
  Responses: { operation: 'chat', errors: 'responses', ends: ['/responses'] },
  MessagesTokenCount: { operation: 'count_tokens', errors: 'messages', ends: ['/messages/count_tokens'] },
  Embeddings: { operation: 'embeddings', errors: 'completions', ends: ['/embeddings'] },
  ImageGenerations: { operation: 'image_generation', errors: 'completions', ends: ['/images/generations'] },
  ImageEdits: { operation: 'image_edit', errors: 'completions', ends: ['/images/edits'] },
  ImageVariations: { operation: 'image_variation', errors: 'completions', ends: ['/images/variations'] },
  Speech: { operation: 'speech', errors: 'completions', ends: ['/audio/speech'] },
  Transcriptions: { operation: 'transcription', errors: 'completions', ends: ['/audio/transcriptions'] },
  Translations: { operation: 'translation', errors: 'completions', ends: ['/audio/translations'] },
  Moderations: { operation: 'moderation', errors: 'completions', ends: ['/moderations'] },
  Rerank: { operation: 'rerank', errors: 'rerank', ends: ['/rerank'] },
  Batches: { operation: 'batch', errors: 'batch', ends: ['/files', '/batches'] },
  Models: { operation: null, errors: 'list', ends: ['/models'] },
  Realtime: { operation: 'realtime', errors: 'completions', ends: [] },
  GenerateContent: { operation: 'chat', errors: 'gemini', ends: [':generateContent', ':streamGenerateContent'] },
  GeminiTokenCount: { operation: 'count_tokens', errors: 'gemini', ends: [':countTokens'] },
  GeminiEmbeddings: { operation: 'embeddings', errors: 'gemini', ends: [':embedContent', ':batchEmbedContents'] },
  Passthrough: { operation: null, errors: 'path', ends: [] },
  Detect: { operation: null, errors: 'path', ends: [] },
}

/** The types of requests by the ends of their paths, for configs without `routes`. */
export const DEFAULT_ROUTES: Readonly<Record<string, RouteType>> = Object.fromEntries(
  (Object.keys(ROUTE_TYPES) as RouteType[]).flatMap((type) => ROUTE_TYPES[type].ends.map((end) => [end, type])),
)
