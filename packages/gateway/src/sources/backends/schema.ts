import { dynamicForwardProxy } from '../../backends/dynamic-forward-proxy/schema.ts'
import { staticBackend } from '../../backends/static/schema.ts'
import { inferencePool } from '../../schema/fields/inference-pool.ts'
import { fileOnly, object } from '../../schema/kit.ts'
import type { Output } from '../../schema/kit.ts'
import { objectName } from '../../schema/fields/names.ts'
import { exactlyOneOf } from '../../schema/rules.ts'
import { aiBackend } from '../../backends/ai/schema.ts'
import { mcpBackend } from '../../backends/mcp/schema.ts'
import { awsBackend } from '../../backends/agent-core/schema.ts'
import { backendBlock, labels, modelBlock, providerBlock, targetBlock } from '../policies/schema.ts'

/** The kinds of backends; each backend has exactly one kind, and policies for calls to it. */
export const backendFields = {
  static: staticBackend.optional().describe('A fixed destination.'),
  dynamicForwardProxy: dynamicForwardProxy.optional().describe('Sends each request to the host in its `Host` header.'),
  inferencePool: fileOnly(
    inferencePool.optional().describe('Model servers of which an endpoint picker chooses one for each request.'),
  ),
  ai: aiBackend(providerBlock, modelBlock).optional().describe('Large language models.'),
  mcp: mcpBackend(targetBlock).optional().describe('MCP servers (Model Context Protocol).'),
  aws: awsBackend.optional(),
  policies: backendBlock().optional().describe('Policies for requests to this backend.'),
}

export const oneKind = exactlyOneOf('static', 'dynamicForwardProxy', 'inferencePool', 'ai', 'mcp', 'aws')

export const namedBackend = object(
  {
    name: objectName().describe('Name that routes refer to.'),
    labels: labels().prefault({}).describe('Labels, with which policies select backends.'),
    ...backendFields,
  },
  [oneKind],
).describe('A named backend.')

export type NamedBackendConfig = Output<typeof namedBackend>
