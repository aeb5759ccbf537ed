import type { Json, JsonObject } from '../../schema/kit.ts'
import { isObject, type OpenApiDocument, shorten, textOf } from './document.ts'
import { expandSchema } from './expand-schema.ts'
import { type OpenApiBody, type OpenApiOperation, PARAMETER_PLACES } from './operation.ts'
import { isJsonType, mediaTypeOf, type ReadParameter, readParameters } from './read-parameters.ts'
import { readPath } from './read-paths.ts'

export interface OperationPlace {
  document: OpenApiDocument
  /** The path item that holds it. */
  item: JsonObject
  method: string
  path: string
  basePath: string
  /** For people. */
  place: string
}

/** One operation as a tool; null, and a fault that names it, where it cannot be one. */
export function readOperation(value: Json, at: OperationPlace): OpenApiOperation | null {
  const { document, item, method, place } = at
  if (!isObject(value)) {
    document.fault(`${place}: no object`)
    return null
  }
  const name = textOf(value.operationId)
  if (name === null || !/^[\x21-\x7e]{1,128}$/.test(name)) {
    const found = name === null ? 'no operationId' : `the operationId \`${shorten(name)}\``
    document.fault(`${place}: ${found}; a tool is named by one of at most 128 characters without spaces`)
    return null
  }
  const where = `operation \`${name}\``
  if (method === 'trace') document.fault(`${where}: the method TRACE`)
  if (item.servers !== undefined || value.servers !== undefined) {
    document.fault(`${where}: \`servers\` of its own, and a target has one`)
  }
  const path = readPath(at.path, { ...at, place: where })
  const parameters = readParameters([item.parameters, value.parameters], document, where)
  const body = readBody(value.requestBody, { document, method, where })
  if (path === null || !checkTemplate(path, parameters, { document, where })) return null
  return {
    tool: {
      name,
      ...titleOf(value),
      description: textOf(value.description) ?? textOf(value.summary) ?? name,
      inputSchema: inputSchema(parameters, body),
    },
    method: method.toUpperCase(),
    path,
    parameters: parameters.map(({ parameter }) => parameter),
    body: body === null ? null : { mediaType: body.mediaType, as: body.as, required: body.required },
  }
}

function titleOf({ summary }: JsonObject): { title?: string } {
  const title = textOf(summary)
  return title !== null && title.length <= LONGEST_TITLE ? { title } : {}
}

type ReadBody = OpenApiBody & { schema: Json }

function readBody(
  value: Json | undefined,
  { document, method, where }: { document: OpenApiDocument; method: string; where: string },
): ReadBody | null {
  // What a body would mean there is not defined (RFC 9110 section 9.3).
  if (value === undefined || method === 'get' || method === 'head') return null
  const object = document.object(value, where)
  if (object === null) return null
  const required = object.required === true
  const types = isObject(object.content) ? Object.entries(object.content) : []
  const json = types.find(([type]) => isJsonType(type))
  if (json !== undefined) {
    const schema = isObject(json[1]) ? json[1].schema : undefined
    const expanded = expandSchema(schema, document, { where, isSent: true })
    return { mediaType: mediaTypeOf(json[0]), as: 'json', required, schema: expanded }
  }
  if (types.some(([type]) => mediaTypeOf(type) === BYTES)) {
    const schema = { type: 'string', contentEncoding: 'base64', description: 'The body in base64.' }
    return { mediaType: BYTES, as: 'base64', required, schema }
  }
  const names = types.map(([type]) => `\`${shorten(type)}\``).join(', ')
  document.fault(`${where}: a body of ${names === '' ? 'no type' : names}, and JSON and ${BYTES} are known`)
  return null
}

/** Every parameter of the template is one of the operation, and the other way round. */
function checkTemplate(
  path: OpenApiOperation['path'],
  parameters: readonly ReadParameter[],
  { document, where }: { document: OpenApiDocument; where: string },
): boolean {
  const named = path.flatMap((piece) => (typeof piece === 'string' ? [] : piece.parameter))
  const declared = parameters.flatMap(({ parameter }) => (parameter.in === 'path' ? parameter.name : []))
  const missing = named.filter((name) => !declared.includes(name))
  const surplus = declared.filter((name) => !named.includes(name))
  for (const name of missing) document.fault(`${where}: \`{${shorten(name)}}\` in the path, but no such parameter`)
  for (const name of surplus) document.fault(`${where}: a parameter \`${shorten(name)}\` that is not in the path`)
  return missing.length + surplus.length === 0
}

/** Arguments stand in groups, as a name may be one of the path and of the query. */
function inputSchema(parameters: readonly ReadParameter[], body: ReadBody | null): JsonObject {
  const groups = PARAMETER_PLACES.flatMap((place): [string, JsonObject][] => {
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
    ...requiredOf(body?.required === true ? [...required, 'body'] : required),
    additionalProperties: false,
  }
}

function requiredOf(names: string[]): JsonObject {
  return names.length === 0 ? {} : { required: names }
}

const BYTES = 'application/octet-stream'
const LONGEST_TITLE = 64
