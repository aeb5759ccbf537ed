import { expression } from '../../schema/fields/expression.ts'
import { boolean, enumeration, integer, json, string } from '../../schema/fields/values.ts'
import { list, map, object, type Output } from '../../schema/kit.ts'

const field = () => string({ min: 1, max: 256 }).describe('Name of a top-level field of the body.')

const messages = () =>
  list(
    object({
      role: enumeration(['system', 'developer', 'user', 'assistant']).describe('Role of the message.'),
      content: string({ max: 65_536 }).describe('Text of the message.'),
    }).describe('A message.'),
    { max: 64 },
  )

/** Members of the body with fixed values. */
export const fieldValues = () =>
  list(
    object({
      field: field(),
      value: json({ max: 65_536 }).describe('The value.'),
    }).describe('A field of the body.'),
    { min: 1, max: 64, uniqueBy: 'field' },
  )

/** Messages that are added to a conversation. */
export const prompt = () =>
  object({
    prepend: messages().optional().describe('Messages before the conversation of the client.'),
    append: messages().optional().describe('Messages after the conversation of the client.'),
  }).describe('Adds messages to every chat request.')

/** Members of the body that expressions compute. */
export const fieldExpressions = () =>
  list(
    object({
      field: field(),
      expression: expression('llmRequest').describe(
        'Expression for the value; `llmRequest` is the body as the client sent it. When the expression fails, the field is removed.',
      ),
    }).describe('A field of the body.'),
    { min: 1, max: 64, uniqueBy: 'field' },
  ).describe('Fields of the body with values from expressions; they take precedence over `overrides`.')

/** Marks for the caches of providers. */
export const promptCaching = () =>
  object({
    cacheSystem: boolean().prefault(true).describe('Whether system instructions are cached.'),
    cacheMessages: boolean().prefault(true).describe('Whether the conversation is cached.'),
    cacheTools: boolean().prefault(false).describe('Whether tool definitions are cached.'),
    minTokens: integer({ min: 0, max: 10_000_000 })
      .prefault(1_024)
      .describe(
        'System instructions with fewer tokens are not cached. The number of tokens is estimated as the number of words times 1.3.',
      ),
    cacheMessageOffset: integer({ min: 0, max: 10_000 })
      .prefault(0)
      .describe('Number of messages between the end of the cached part and the second to last message.'),
  }).describe(
    'Marks the parts of a prompt that `bedrock` should cache, with Claude 3 and newer and Nova models. Clients that use the Messages format set these marks themselves.',
  )

/** The kinds of requests, by the end of their path. */
export const routeTypes = () =>
  map(
    enumeration([
      'Completions',
      'Messages',
      'Models',
      'Passthrough',
      'Detect',
      'Responses',
      'MessagesTokenCount',
      'Embeddings',
      'ImageGenerations',
      'ImageEdits',
      'ImageVariations',
      'Speech',
      'Transcriptions',
      'Translations',
      'Moderations',
      'Rerank',
      'Realtime',
      'GenerateContent',
      'GeminiTokenCount',
      'GeminiEmbeddings',
      'Batches',
    ]).describe('Type of these requests.'),
    { max: 64 },
  ).describe(
    'Types of requests, by the end of their path. The longest match counts, `*` matches any path, and a chat on any other path is `Completions`. ' +
      'When unset: `/chat/completions`, `/messages`, `/messages/count_tokens`, `/responses`, `/embeddings`, `/images/generations`, `/images/edits`, `/images/variations`, `/audio/speech`, `/audio/transcriptions`, `/audio/translations`, `/moderations`, `/rerank`, `/files`, `/batches`, `/models`, `:rawPredict`, `:streamRawPredict`, `:generateContent`, `:streamGenerateContent`, `:countTokens`, `:embedContent` and `:batchEmbedContents` with the corresponding types.',
  )

export type RouteType = Output<ReturnType<typeof routeTypes>>[string]
export type PromptConfig = Output<ReturnType<typeof prompt>>
export type PromptCachingConfig = Output<ReturnType<typeof promptCaching>>
export type FieldValue = Output<ReturnType<typeof fieldValues>>[number]
export type FieldExpression = Output<ReturnType<typeof fieldExpressions>>[number]
