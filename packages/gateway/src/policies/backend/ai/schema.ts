import { promptGuard } from '../../../llm/guards/schema.ts'
import { definePolicy } from '../../../schema/define-policy.ts'
import { expression } from '../../../schema/fields/expression.ts'
import { filledInResources, list, map, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { boolean, enumeration, integer, json, string } from '../../../schema/fields/values.ts'
import { auth } from '../auth/schema.ts'
import { http } from '../http/schema.ts'
import { tcp } from '../tcp/schema.ts'
import { tls } from '../tls/schema.ts'
import { tunnel } from '../tunnel/schema.ts'

/** SPEC 2.7 BackendSimple. */
const guardPolicies = object({
  tcp: tcp.schema.optional().describe('The connection.'),
  tls: tls.schema.optional().describe('TLS.'),
  http: http.schema.optional().describe('HTTP.'),
  tunnel: tunnel.schema.optional().describe('A proxy on the way.'),
  auth: auth.schema.optional().describe('The credential.'),
})

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

const fieldValues = () =>
  list(
    object({
      field: field(),
      value: json({ max: 65_536 }).describe('Its value.'),
    }).describe('A member of the body.'),
    { min: 1, max: 64, uniqueBy: 'field' },
  )

/** SPEC 2.10 BackendAI. */
export const ai = definePolicy({
  name: 'ai',
  section: 'backend',
  attach: ['route', 'backend'],
  merge: 'replace',
  schema: filledInResources(
    object({
      prompt: object({
        prepend: messages().optional().describe('What stands before the conversation of the client.'),
        append: messages().optional().describe('What stands behind it.'),
      })
        .optional()
        .describe('Messages that are added to every chat request.'),
      promptGuard: promptGuard(guardPolicies).optional(),
      defaults: fieldValues().optional().describe('Members of the body that are set where the client left them out.'),
      overrides: fieldValues().optional().describe('Members of the body that are set whatever the client sent.'),
      transformations: list(
        object({
          field: field(),
          expression: expression('llmRequest').describe(
            'Its value; `llmRequest` is the body as the client sent it. When the expression fails, the member is removed.',
          ),
        }).describe('A member of the body.'),
        { min: 1, max: 64, uniqueBy: 'field' },
      )
        .optional()
        .describe('Members of the body that expressions compute; they win over `overrides`.'),
      modelAliases: map(string({ min: 1, max: 256 }).describe('The model of the provider.'), { max: 64 })
        .optional()
        .describe(
          'Models by the names that clients use. A name may hold `*` for any characters; an exact name wins, then the longest.',
        ),
      promptCaching: object({
        cacheSystem: boolean().prefault(true).describe('Whether instructions are cached.'),
        cacheMessages: boolean().prefault(true).describe('Whether the conversation is cached.'),
        cacheTools: boolean().prefault(false).describe('Whether definitions of tools are cached.'),
        minTokens: integer({ min: 0, max: 10_000_000 })
          .prefault(1_024)
          .describe('Instructions of fewer tokens are not cached; tokens are taken as words times 1.3.'),
        cacheMessageOffset: integer({ min: 0, max: 10_000 })
          .prefault(0)
          .describe('How many messages before the last but one the cached part ends.'),
      })
        .optional()
        .describe(
          'Marks what `bedrock` should cache, with Claude 3 and newer and Nova models. Clients of the Messages format set marks themselves.',
        ),
      routes: map(
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
      )
        .optional()
        .describe(
          'What requests are, by the end of their path; the longest end that fits counts, `*` fits any, and a chat on any other path is `Completions`. ' +
            'When unset: `/chat/completions`, `/messages`, `/messages/count_tokens`, `/responses`, `/embeddings`, `/models`, `:rawPredict` and `:streamRawPredict` as their names say.',
        ),
    }),
  ).describe('Shapes, guards and routes requests to language models.'),
})

export type AiConfig = Output<typeof ai.schema>
export type RouteType = NonNullable<AiConfig['routes']>[string]
export type PromptConfig = NonNullable<AiConfig['prompt']>
export type PromptCachingConfig = NonNullable<AiConfig['promptCaching']>
export type FieldValue = NonNullable<AiConfig['defaults']>[number]
export type FieldExpression = NonNullable<AiConfig['transformations']>[number]
