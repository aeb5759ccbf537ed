import type { OpenapiOptions } from './call.ts'
import type { TargetTransport } from '../transport.ts'
import { OpenapiLink } from './link.ts'

/** An HTTP API whose operations are tools. It knows no sessions, so any worker can go on. */
export function openapiTransport(options: OpenapiOptions): TargetTransport {
  const operationsByName = new Map(options.tools.operations.map((operation) => [operation.tool.name, operation]))
  const services = { ...options, operationsByName }
  return { kind: 'openapi', isPortable: true, link: () => new OpenapiLink(services) }
}
