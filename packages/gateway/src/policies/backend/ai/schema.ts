import { responseCache } from '../../../cache/schema.ts'
import { fieldExpressions, fieldValues, prompt, promptCaching, routeTypes } from '../../../llm/edits/schema.ts'
import { promptGuard } from '../../../llm/guards/schema.ts'
import { definePolicy } from '../../../schema/define-policy.ts'
import { fileOnly, filledInResources, map, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { string } from '../../../schema/fields/values.ts'
import { auth } from '../auth/schema.ts'
import { http } from '../http/schema.ts'
import { tcp } from '../tcp/schema.ts'
import { tls } from '../tls/schema.ts'
import { tunnel } from '../tunnel/schema.ts'

/** SPEC 2.7 BackendSimple. */
const guardPolicies = object({
  tcp: tcp.schema.optional().describe('TCP connection settings.'),
  tls: tls.schema.optional().describe('TLS settings.'),
  http: http.schema.optional().describe('HTTP settings.'),
  tunnel: tunnel.schema.optional().describe('A forward proxy between gateway and provider.'),
  auth: auth.schema.optional().describe('Credential for the provider.'),
})

/** SPEC 2.10 BackendAI. */
export const ai = definePolicy({
  name: 'ai',
  section: 'backend',
  attach: ['route', 'backend'],
  merge: 'replace',
  schema: filledInResources(
    object({
      prompt: prompt().optional(),
      promptGuard: promptGuard(guardPolicies).optional(),
      defaults: fieldValues().optional().describe('Fields of the body that are set if the client omitted them.'),
      overrides: fieldValues().optional().describe('Fields of the body that are always set, whatever the client sent.'),
      transformations: fieldExpressions().optional(),
      modelAliases: map(string({ min: 1, max: 256 }).describe('Name of the model at the provider.'), { max: 64 })
        .optional()
        .describe(
          'Maps the model names of clients to the models of the provider. `*` in a name matches any characters. An exact name takes precedence, then the longest pattern.',
        ),
      promptCaching: promptCaching().optional(),
      cache: fileOnly(responseCache().optional()),
      routes: routeTypes().optional(),
    }),
  ).describe('Changes, guards and routes requests to language models.'),
})

export type AiConfig = Output<typeof ai.schema>
