import { authorization } from '../../../schema/fields/auth/authorization.ts'
import { definePolicy } from '../../../schema/define-policy.ts'
import { fileOnly, filledInResources, object } from '../../../schema/kit.ts'
import { withShadowMode } from '../../../schema/fields/shadow-mode.ts'
import { mcpAuthentication } from '../../../schema/fields/auth/mcp-authentication.ts'

/** SPEC 2.7 BackendMCP. */
export const mcp = definePolicy({
  name: 'mcp',
  section: 'backend',
  attach: ['route', 'backend', 'mcpTarget'],
  merge: 'replace',
  schema: filledInResources(
    object({
      authorization: withShadowMode(authorization('mcp'))
        .optional()
        .describe(
          'CEL rules that decide which tools, prompts, resources and tasks a caller may see and use. The rules of all attached policies are combined.',
        ),
      authentication: mcpAuthentication().optional(),
      shadow: fileOnly(
        object({
          authorization: authorization('mcp').describe(
            'Shadow rules, which only report what they would do, next to the enforced rules.',
          ),
        })
          .optional()
          .describe('Rules that run without an effect: what they would do is logged, counted and recorded.'),
      ),
    }),
  ).describe('Access to the tools, prompts and resources of MCP servers.'),
})
