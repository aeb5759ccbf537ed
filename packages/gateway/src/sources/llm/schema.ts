import { aiModels } from '../../backends/ai/models/schema.ts'
import { ipAddress } from '../../schema/fields/hosts.ts'
import { integer } from '../../schema/fields/values.ts'
import { object } from '../../schema/kit.ts'
import { listenerTls } from '../binds/schema.ts'
import { backendBlock, routeBlock } from '../policies/schema.ts'

/** The short form of a port that serves models; `expandLlm` has its long form. */
export const llmShortForm = object({
  port: integer({ min: 0, max: 65_535 }).prefault(4_000).describe('Port to listen on; 0 selects a free port.'),
  address: ipAddress().optional().describe('Address to listen on; every address of the machine when unset.'),
  tls: listenerTls.optional().describe('Certificate; clients use plain text when unset.'),
  models: aiModels(backendBlock).describe('Models by the name that the client sends, each with its provider.'),
  policies: routeBlock().optional().describe('Policies for all requests, as on a route.'),
})
