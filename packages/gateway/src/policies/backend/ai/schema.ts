import { fieldExpressions, fieldValues, prompt, promptCaching, routeTypes } from '../../../llm/edits/schema.ts'
import { promptGuard } from '../../../llm/guards/schema.ts'
import { definePolicy } from '../../../schema/define-policy.ts'
import { filledInResources, map, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { string } from '../../../schema/fields/values.ts'
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
      defaults: fieldValues().optional().describe('Members of the body that are set where the client left them out.'),
      overrides: fieldValues().optional().describe('Members of the body that are set whatever the client sent.'),
      transformations: fieldExpressions().optional(),
      modelAliases: map(string({ min: 1, max: 256 }).describe('The model of the provider.'), { max: 64 })
        .optional()
        .describe(
          'Models by the names that clients use. A name may hold `*` for any characters; an exact name wins, then the longest.',
        ),
      promptCaching: promptCaching().optional(),
      routes: routeTypes().optional(),
    }),
  ).describe('Shapes, guards and routes requests to language models.'),
})

export type AiConfig = Output<typeof ai.schema>
