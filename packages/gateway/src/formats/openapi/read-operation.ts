import type { JsonObject } from '../json.ts'
import { entriesOf, type OpenApiDocument, shorten, stringOrNull } from './document.ts'
import { type OpenApiOperation, PARAMETER_LOCATIONS } from './operation.ts'
import { isJsonType, mediaTypeOf, readBody, type ReadBody } from './read-body.ts'
import { type ReadParameter, readParameters } from './read-parameters.ts'
import { pickServer, readPath, readServers } from './read-paths.ts'

interface OperationContext {
  document: OpenApiDocument
  /** The path item that contains the operation. */
  item: JsonObject
  method: string
  path: string
  /** Name of the tool. */
  name: string
  /** Prefix of the path, when the operation has no servers of its own. */
  basePath: string
  /** Hosts that the target stands for: its own host and the hosts of the document's servers. */
  hosts: ReadonlySet<string | null>
  host: string
  /** Names the operation in messages. */
  where: string
}

/** Reads an operation as a tool; returns null, with a fault that names the operation, when that is not possible. */
export function readOperation(value: JsonObject, at: OperationContext): OpenApiOperation | null {
  const { document, item, method, name, where } = at
  if (method === 'trace') document.fault(where, `the method TRACE`)
  const basePath = ownBasePath(value, at) ?? at.basePath
  const path = readPath(at.path, { document, basePath, where })
  if (path === null) return null
  const declared = readParameters([item.parameters, value.parameters], document, where)
  const parameters = fitTemplate(path, declared)
  const body = readBody(value.requestBody, { document, method, where })
  return {
    tool: {
      name,
      ...titleOf(value),
      description:
        stringOrNull(value.description) ?? stringOrNull(value.summary) ?? stringOrNull(value.operationId) ?? where,
      inputSchema: inputSchema(parameters, body),
    },
    method: method.toUpperCase(),
    path,
    parameters: parameters.map(({ parameter }) => parameter),
    body: body?.body ?? null,
    accept: acceptOf(value, document),
  }
}

function titleOf({ summary }: JsonObject): { title?: string } {
  const title = stringOrNull(summary)
  return title !== null && title.length <= LONGEST_TITLE ? { title } : {}
}

/**
 * The path of a server that only this operation has. A server on another host is a fault, because credentials of the
 * target are for its own host.
 */
function ownBasePath(value: JsonObject, { document, item, hosts, host, where }: OperationContext): string | null {
  const all = [value.servers, item.servers].find((servers) => Array.isArray(servers) && servers.length > 0)
  if (all === undefined) return null
  const servers = readServers(all, document, where)
  const near = pickServer(
    servers.filter((server) => server.host === null || hosts.has(server.host)),
    host,
  )
  const [far] = servers
  if (near === undefined && far !== undefined) {
    document.fault(where, `a server of its own, ${shorten(far.host ?? '')}, which needs a target of its own`)
  }
  return near?.path ?? null
}

/**
 * Every name in the path template is a parameter, declared or not; a declared path parameter that is not in the
 * template is dropped.
 */
function fitTemplate(path: OpenApiOperation['path'], declared: readonly ReadParameter[]): ReadParameter[] {
  const named = new Set(path.flatMap((piece) => (typeof piece === 'string' ? [] : piece.parameter)))
  const kept = declared.filter(({ parameter }) => parameter.in !== 'path' || named.delete(parameter.name))
  const undeclared = [...named].map((name): ReadParameter => ({
    parameter: { in: 'path', name, required: true, style: 'simple', explode: false, keys: null },
    schema: { type: 'string' },
  }))
  return [...undeclared, ...kept]
}

/** Arguments are grouped by location, because a path and a query parameter may have the same name. */
function inputSchema(parameters: readonly ReadParameter[], body: ReadBody | null): JsonObject {
  const groups = PARAMETER_LOCATIONS.flatMap((place): [string, JsonObject][] => {
    const own = parameters.filter(({ parameter }) => parameter.in === place)
    if (own.length === 0) return []
    const properties = Object.fromEntries(own.map(({ parameter, schema }) => [parameter.name, schema]))
    const required = own.flatMap(({ parameter }) => (parameter.required ? parameter.name : []))
    return [[place, { type: 'object', properties, ...requiredOf(required), additionalProperties: false }]]
  })
  const required = groups.flatMap(([place, group]) => (group.required === undefined ? [] : place))
  return {
    type: 'object',
    properties: { ...Object.fromEntries(groups), ...(body !== null && { body: body.schema }) },
    ...requiredOf(body?.body.required === true ? [...required, 'body'] : required),
    additionalProperties: false,
  }
}

function requiredOf(names: string[]): JsonObject {
  return names.length === 0 ? {} : { required: names }
}

/** Prefers JSON, which is the most useful format for a model. */
function acceptOf({ responses }: JsonObject, document: OpenApiDocument): string {
  const types = entriesOf(responses).flatMap(([code, entry]) => {
    if (!/^(2|default$)/i.test(code)) return []
    const response = document.object(entry, null)
    return response === null ? [] : entriesOf(response.content).map(([type]) => mediaTypeOf(type))
  })
  const known = [...new Set(types)].filter((type) => /^[a-z0-9!#$&^_.+*-]+\/[a-z0-9!#$&^_.+*-]+$/.test(type))
  if (known.length === 0 || known.includes(JSON_TYPE)) return JSON_TYPE
  const json = known.filter(isJsonType)
  return (json.length > 0 ? json : known).slice(0, MOST_TYPES).join(', ')
}

const JSON_TYPE = 'application/json'
const LONGEST_TITLE = 64
const MOST_TYPES = 8
