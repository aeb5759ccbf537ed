import type { OpenApiOperation, OpenApiTools } from '../../../formats/openapi/operation.ts'
import type { CompiledBackend } from '../../../pipeline/compiled.ts'
import type { TargetTransport } from '../transport.ts'
import { OpenapiLink } from './link.ts'

export interface OpenapiOptions {
  connection: CompiledBackend
  tools: OpenApiTools
  /** Host as the API knows itself. */
  authority: string
  bug: (error: unknown) => void
}

export interface OpenapiServices extends OpenapiOptions {
  operationsByName: ReadonlyMap<string, OpenApiOperation>
}

/** An HTTP API whose operations are tools. It knows no sessions, so any worker can go on. */
export function openapiTransport(options: OpenapiOptions): TargetTransport {
  const operationsByName = new Map(options.tools.operations.map((operation) => [operation.tool.name, operation]))
  const services = { ...options, operationsByName }
  return { kind: 'openapi', isPortable: true, link: () => new OpenapiLink(services) }
}
