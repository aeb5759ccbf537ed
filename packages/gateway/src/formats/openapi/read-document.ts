import type { Json, JsonObject } from '../../schema/kit.ts'
import { isObject, OpenApiDocument, shorten, textOf } from './document.ts'
import { readBasePath } from './read-paths.ts'
import { readOperation } from './read-operation.ts'
import type { OpenApiOperation, OpenApiTools } from './operation.ts'

export type ReadOpenApi = { tools: OpenApiTools } | { faults: string[] }

/** The operations of an OpenAPI document of 3.0 or 3.1, or everything that keeps them from being called. */
export function readOpenApi(input: unknown): ReadOpenApi {
  const value = asJson(input)
  if (!isObject(value)) return { faults: [value === undefined ? 'a value that holds itself' : 'no mapping'] }
  const { openapi, swagger, info } = value
  const version = typeof openapi === 'string' ? /^3\.([01])(\.|$)/.exec(openapi) : null
  if (version === null) {
    const found = swagger === undefined ? openapi : swagger
    return { faults: [`the version ${JSON.stringify(found ?? null)}, and 3.0 and 3.1 are known`] }
  }
  const document = new OpenApiDocument(value, version[1] === '0')
  const operations = readOperations(document)
  if (document.faults.length > 0) return { faults: document.faults }
  if (operations.length === 0) return { faults: ['no operation'] }
  const about: JsonObject = isObject(info) ? info : {}
  return { tools: { title: textOf(about.title) ?? 'OpenAPI', version: textOf(about.version) ?? '', operations } }
}

/** As JSON would have it: YAML knows more, even things that have no end. */
function asJson(input: unknown): Json | undefined {
  try {
    return JSON.parse(JSON.stringify(input) ?? 'null') as Json
  } catch {
    return undefined
  }
}

function readOperations(document: OpenApiDocument): OpenApiOperation[] {
  const { paths } = document.root
  const basePath = readBasePath(document)
  const operations: OpenApiOperation[] = []
  const places = new Map<string, string>()
  for (const [path, entry] of Object.entries(isObject(paths) ? paths : {})) {
    if (path.startsWith('x-')) continue
    const item = document.object(entry, `path ${shorten(path)}`)
    for (const method of item === null ? [] : METHODS) {
      const object = item![method]
      if (object === undefined) continue
      const place = `${method.toUpperCase()} ${shorten(path)}`
      const operation = readOperation(object, { document, item: item!, method, path, basePath, place })
      if (operation === null) continue
      const { name } = operation.tool
      const other = places.get(name)
      if (other !== undefined) document.fault(`${place}: the operationId \`${name}\`, which ${other} has too`)
      places.set(name, place)
      operations.push(operation)
    }
  }
  if (operations.length > MOST_OPERATIONS) document.fault(`more than ${MOST_OPERATIONS} operations`)
  return operations
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const
const MOST_OPERATIONS = 1_000
