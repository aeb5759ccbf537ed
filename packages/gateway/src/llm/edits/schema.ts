import { expression } from '../../schema/fields/expression.ts'
import { boolean, enumeration, integer, json, string } from '../../schema/fields/values.ts'
import { list, map, object, type Output } from '../../schema/kit.ts'

const field = () =>
  string({ min: 1, max: 256 }).describe('Name of a member of the body; members of members cannot be named.')

const messages = () =>
  list(
    object({
      role: enumeration(['system', 'developer', 'user', 'assistant']).describe('Who says it.'),
      content: string({ max: 65_536 }).describe('What is said.'),
    }).describe('A message.'),
    { max: 64 },
  )

/** Members of the body with fixed values. */
export const fieldValues = () =>
  list(
    object({
      field: field(),
      value: json({ max: 65_536 }).describe('Its value.'),
    }).describe('A member of the body.'),
    { min: 1, max: 64, uniqueBy: 'field' },
  )

/** Messages that are added to a conversation. */
export const prompt = () =>
  object({
    prepend: messages().optional().describe('What stands before the conversation of the client.'),
    append: messages().optional().describe('What stands behind it.'),
  }).describe('Messages that are added to every chat request.')

/** Members of the body that expressions compute. */
export const fieldExpressions = () =>
  list(
    object({
      field: field(),
      expression: expression('llmRequest').describe(
        'Its value; `llmRequest` is the body as the client sent it. When the expression fails, the member is removed.',
      ),
    }).describe('A member of the body.'),
    { min: 1, max: 64, uniqueBy: 'field' },
  ).describe('Members of the body that expressions compute; they win over `overrides`.')

/** Marks for the caches of providers. */
export const promptCaching = () =>
  object({
    cacheSystem: boolean().prefault(true).describe('Whether instructions are cached.'),
    cacheMessages: boolean().prefault(true).describe('Whether the conversation is cached.'),
    cacheTools: boolean().prefault(false).describe('Whether definitions of tools are cached.'),
    minTokens: integer({ min: 0, max: 10_000_000 })
      .prefault(1_024)
      .describe('Instructions of fewer tokens are not cached; tokens are taken as words times 1.3.'),
    cacheMessageOffset: integer({ min: 0, max: 10_000 })
      .prefault(0)
      .describe('How many messages before the last but one the cached part ends.'),
  }).describe(
    'Marks what `bedrock` should cache, with Claude 3 and newer and Nova models. Clients of the Messages format set marks themselves.',
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
      'Realtime',
    ]).describe('What such requests are.'),
    { max: 64 },
  ).describe(
    'What requests are, by the end of their path; the longest end that fits counts, `*` fits any, and a chat on any other path is `Completions`. ' +
      'When unset: `/chat/completions`, `/messages`, `/messages/count_tokens`, `/responses`, `/embeddings`, `/models`, `:rawPredict` and `:streamRawPredict` as their names say.',
  )

export type RouteType = Output<ReturnType<typeof routeTypes>>[string]
export type PromptConfig = Output<ReturnType<typeof prompt>>
export type PromptCachingConfig = Output<ReturnType<typeof promptCaching>>
export type FieldValue = Output<ReturnType<typeof fieldValues>>[number]
export type FieldExpression = Output<ReturnType<typeof fieldExpressions>>[number]
