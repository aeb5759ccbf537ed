import type { OpenApiTools } from '../../formats/openapi/operation.ts'
import { readOpenApi } from '../../formats/openapi/read-document.ts'
import type { OpenapiTargetConfig } from '../../mcp/transports/openapi/schema.ts'
import { backendKey } from '../../schema/fields/references.ts'
import type { Path, Problem } from '../../schema/problem.ts'
import { mcpBackendsOf } from './mcp-targets.ts'
import type { ConfigFile } from '../schema.ts'

export interface ReadApis {
  toolsOf: ReadonlyMap<OpenapiTargetConfig, OpenApiTools>
  problems: Problem[]
  /** Operations that are left out. */
  warnings: Problem[]
}

/** Converts the OpenAPI documents of all targets to tools, after the documents were read. */
export function readApis(config: ConfigFile): ReadApis {
  const hosts = new Map(config.backends.map(({ name, static: fixed }) => [backendKey(name), fixed?.host]))
  const toolsOf = new Map<OpenapiTargetConfig, OpenApiTools>()
  const problems: Problem[] = []
  const warnings: Problem[] = []
  for (const { path, openapi } of apisOf(config)) {
    const { schema, host, backendRef, basePath = null, include = null, exclude, maxTools } = openapi
    const key = schema.file === undefined ? 'inline' : 'file'
    const value = schema[key]
    // A document that could not be read has been reported already.
    if (value === undefined || value === null) continue
    // The document is large and not needed any more.
    schema[key] = null
    const at = [...path, 'openapi', 'schema', key]
    const fixed = host ?? hosts.get(backendRef?.name ?? '') ?? ''
    const read = readOpenApi(value, { host: fixed, basePath, include, exclude, maxTools })
    if ('faults' in read) {
      problems.push(problemAt(at, 'bad_format', `found ${listed(read.faults)}`))
      continue
    }
    toolsOf.set(openapi, read.tools)
    const shown = read.warnings.slice(0, MOST_WARNINGS)
    const more = read.warnings.length - shown.length
    if (more > 0) shown.push(`${more} more that are not offered`)
    warnings.push(...shown.map((text) => problemAt(at, 'no_effect', `found ${text}`)))
  }
  return { toolsOf, problems, warnings }
}

function apisOf(config: ConfigFile): { path: Path; openapi: OpenapiTargetConfig }[] {
  return mcpBackendsOf(config).flatMap(({ path, mcp }) =>
    mcp.targets.flatMap(({ openapi }, index) =>
      openapi === undefined ? [] : { path: [...path, 'targets', index], openapi },
    ),
  )
}

function problemAt(path: Path, code: Problem['code'], found: string): Problem {
  return {
    code,
    path,
    at: 'value',
    found,
    expected: 'an OpenAPI document whose operations can be called',
    suggestion: null,
  }
}

function listed(faults: readonly string[]): string {
  const more = faults.length > MOST_FAULTS ? `; and ${faults.length - MOST_FAULTS} more` : ''
  return `${faults.slice(0, MOST_FAULTS).join('; ')}${more}`
}

const MOST_FAULTS = 10
const MOST_WARNINGS = 20
