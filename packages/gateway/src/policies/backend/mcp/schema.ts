import { authorization } from '../../../schema/fields/auth/authorization.ts'
import { definePolicy } from '../../../schema/define-policy.ts'
import { filledInResources, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { mcpAuthentication } from '../../../schema/fields/auth/mcp-authentication.ts'

/** SPEC 2.7 BackendMCP. */
export const mcp = definePolicy({
  name: 'mcp',
  section: 'backend',
  attach: ['route', 'backend', 'mcpTarget'],
  merge: 'replace',
  schema: filledInResources(
    object({
      authorization: authorization('mcp')
        .optional()
        .describe(
          'Decides by CEL expressions which tools, prompts, resources and tasks a caller may see and use. Rules of all attachments count together.',
        ),
      authentication: mcpAuthentication().optional(),
    }),
  ).describe('Decides which tools, prompts and resources of MCP servers callers may use.'),
})

export type McpPolicyConfig = Output<typeof mcp.schema>
