import { dynamicForwardProxy } from '../../backends/dynamic-forward-proxy/schema.ts'
import { staticBackend } from '../../backends/static/schema.ts'
import { object } from '../../schema/kit.ts'
import type { Output } from '../../schema/kit.ts'
import { objectName } from '../../schema/fields/names.ts'
import { exactlyOneOf } from '../../schema/rules.ts'
import { aiBackend } from '../../backends/ai/schema.ts'
import { mcpBackend } from '../../backends/mcp/schema.ts'
import { awsBackend } from '../../backends/agent-core/schema.ts'
import { backendBlock, labels, providerBlock, targetBlock } from '../policies/schema.ts'

/** The kinds of backends, of which each is one, and the policies for talking to it. */
export const backendFields = {
  static: staticBackend.optional().describe('A fixed destination.'),
  dynamicForwardProxy: dynamicForwardProxy.optional().describe('Sends each request to the host that it names.'),
  ai: aiBackend(providerBlock).optional().describe('Large language models.'),
  mcp: mcpBackend(targetBlock).optional().describe('Servers of the Model Context Protocol.'),
  aws: awsBackend.optional(),
  policies: backendBlock().optional().describe('Policies for talking to this backend.'),
}

export const oneKind = exactlyOneOf('static', 'dynamicForwardProxy', 'ai', 'mcp', 'aws')

export const namedBackend = object(
  {
    name: objectName().describe('Name that routes refer to.'),
    labels: labels().prefault({}).describe('Labels that policies select backends by.'),
    ...backendFields,
  },
  [oneKind],
).describe('A destination with a name.')

export type NamedBackendConfig = Output<typeof namedBackend>
