import { isObject } from '@portico/http/json'
import type { Json, JsonObject } from '../json.ts'
import { entriesOf, itemsOf, OpenApiDocument, stringOrNull } from './document.ts'

/** Converts a 2.0 document to 3.0. References into the document stay valid, because nothing is moved. */
export function fromSwagger(root: JsonObject): JsonObject {
  const document = new OpenApiDocument(root, true)
  const paths = entriesOf(root.paths).map(([path, entry]): [string, Json] => {
    const item = document.object(entry, null)
    return [path, item === null ? entry : convertItem(item, document)]
  })
  return { ...root, openapi: '3.0.0', servers: serversOf(root), paths: Object.fromEntries(paths) }
}

function serversOf({ host, basePath, schemes }: JsonObject): Json[] {
  const path = stringOrNull(basePath) ?? '/'
  const [scheme] = itemsOf(schemes)
  return [
    { url: stringOrNull(host) === null ? path : `${stringOrNull(scheme) ?? 'https'}://${stringOrNull(host)}${path}` },
  ]
}

function convertItem(item: JsonObject, document: OpenApiDocument): JsonObject {
  const { parameters: shared, ...rest } = item
  const entries = Object.entries(rest).map(([key, value]): [string, Json] => {
    if (!METHODS.has(key) || !isObject(value)) return [key, value]
    return [key, convertOperation(value, itemsOf(shared), document)]
  })
  return Object.fromEntries(entries)
}

function convertOperation(operation: JsonObject, shared: readonly Json[], document: OpenApiDocument): JsonObject {
  const { parameters, consumes, produces, responses, ...rest } = operation
  const byPlace = new Map<string, Json>()
  for (const entry of [...shared, ...itemsOf(parameters)]) {
    const parameter = document.object(entry, null)
    // The reader of the operation reports parameters that cannot be read.
    byPlace.set(JSON.stringify([parameter?.in ?? entry, parameter?.name]), parameter ?? entry)
  }
  const all = [...byPlace.values()]
  const isIn = (value: Json, place: string): value is JsonObject => isObject(value) && value.in === place
  const body = all.find((each) => isIn(each, 'body'))
  const fields = all.filter((each) => isIn(each, 'formData'))
  const types = textsOf(consumes ?? document.root.consumes)
  const requestBody = isObject(body) ? plainBody(body, types) : fields.length > 0 ? formBody(fields, types) : null
  const kept = all.filter((each) => !isIn(each, 'body') && !isIn(each, 'formData'))
  return {
    ...rest,
    parameters: kept.map((each) => (isObject(each) && each.$ref === undefined ? convertParameter(each) : each)),
    ...(requestBody !== null && { requestBody }),
    responses: convertResponses(responses, textsOf(produces ?? document.root.produces), document),
  }
}

function plainBody({ schema, required }: JsonObject, types: readonly string[]): JsonObject {
  const media: JsonObject = schema === undefined ? {} : { schema }
  const known = types.length > 0 ? types : ['application/json']
  return { required: required === true, content: Object.fromEntries(known.map((type) => [type, media])) }
}

function formBody(fields: readonly JsonObject[], types: readonly string[]): JsonObject {
  const hasFile = fields.some(({ type }) => type === 'file')
  const isMultipart = hasFile || (types.includes(MULTIPART) && !types.includes(URLENCODED))
  const named = fields.flatMap((field): [string, JsonObject][] => {
    const name = stringOrNull(field.name)
    return name === null ? [] : [[name, convertParameter(field)]]
  })
  const properties = named.map(([name, { schema }]): [string, Json] => [name, schema ?? {}])
  const encoding = named.flatMap(([name, { style, explode }]): [string, Json][] =>
    style === undefined || isMultipart ? [] : [[name, { style, ...(explode !== undefined && { explode }) }]],
  )
  const required = named.flatMap(([name, field]) => (field.required === true ? name : []))
  const schema = {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  }
  const media = { schema, encoding: Object.fromEntries(encoding) }
  return { required: required.length > 0, content: { [isMultipart ? MULTIPART : URLENCODED]: media } }
}

/** In 2.0 the schema's keywords are beside `in`; in 3.0 they are a schema of their own. */
function convertParameter(parameter: JsonObject): JsonObject {
  const { name, in: place, required, description, collectionFormat, ...schema } = parameter
  const file: JsonObject = schema.type === 'file' ? { type: 'string', format: 'binary' } : {}
  return {
    ...(name !== undefined && { name }),
    ...(place !== undefined && { in: place }),
    required: required === true,
    ...(description !== undefined && { description }),
    schema: { ...schema, ...(description !== undefined && place === 'formData' && { description }), ...file },
    ...(schema.type === 'array' && styleOf(collectionFormat, place)),
  }
}

/** Tab-separated values have no style in 3.0 and are rare; commas replace the tabs. */
function styleOf(format: Json | undefined, place: Json | undefined): JsonObject {
  if (place !== 'query' && place !== 'formData') return {}
  if (format === 'multi') return { style: 'form', explode: true }
  if (format === 'ssv') return { style: 'spaceDelimited', explode: false }
  return { style: format === 'pipes' ? 'pipeDelimited' : 'form', explode: false }
}

function convertResponses(
  responses: Json | undefined,
  types: readonly string[],
  document: OpenApiDocument,
): JsonObject {
  const entries = entriesOf(responses).map(([code, entry]): [string, Json] => {
    const schema = document.object(entry, null)?.schema
    if (schema === undefined) return [code, {}]
    return [code, { content: Object.fromEntries(types.map((type) => [type, {}])) }]
  })
  return Object.fromEntries(entries)
}

function textsOf(value: Json | undefined): string[] {
  return itemsOf(value).filter((text) => typeof text === 'string')
}

const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch'])
const MULTIPART = 'multipart/form-data'
const URLENCODED = 'application/x-www-form-urlencoded'
