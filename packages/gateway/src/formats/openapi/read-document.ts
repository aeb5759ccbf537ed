import { isObject } from '@portico/http/json'
import type { Json, JsonObject } from '../json.ts'
import { type ChosenBy, EVERYTHING, isChosen, type OpenApiChoice } from './choose-operations.ts'
import { entriesOf, itemsOf, OpenApiDocument, shorten, stringOrNull } from './document.ts'
import { fromSwagger } from './from-swagger.ts'
import { nameTools } from './name-tools.ts'
import type { OpenApiOperation, OpenApiTools } from './operation.ts'
import { readOperation } from './read-operation.ts'
import { isFit, pickServer, readServers } from './read-paths.ts'

/** Tools, with warnings about parts that were left out; or the faults when there are no tools. */
type ReadOpenApi = { tools: OpenApiTools; warnings: string[] } | { faults: string[] }

/**
 * Reads the chosen operations of an OpenAPI document of 2.0, 3.0 or 3.1. An operation that cannot be called is left out
 * with a warning.
 */
export function readOpenApi(input: Json, choice: OpenApiChoice = EVERYTHING): ReadOpenApi {
  if (!isObject(input)) return { faults: ['no mapping'] }
  const { openapi, swagger } = input
  const isSwagger = swagger === '2.0'
  const version = typeof openapi === 'string' ? /^3\.([01])(\.|$)/.exec(openapi) : null
  if (version === null && !isSwagger) {
    const found = JSON.stringify(swagger ?? openapi ?? null)
    return { faults: [`the version ${shorten(found)}: supported are 2.0, 3.0 and 3.1`] }
  }
  const document = new OpenApiDocument(isSwagger ? fromSwagger(input) : input, isSwagger || version?.[1] === '0')
  const all = findOperations(document)
  const chosen = all.filter((operation) => isChosen(operation, choice))
  const fault = whyNone(all.length, chosen.length, choice)
  if (fault !== null) return { faults: [...document.takeFaults(), ...document.warnings, fault] }
  const operations = readOperations(document, chosen, choice)
  if (operations.length === 0) return { faults: document.warnings }
  const about: JsonObject = isObject(input.info) ? input.info : {}
  const tools = {
    title: stringOrNull(about.title) ?? 'OpenAPI',
    version: stringOrNull(about.version) ?? '',
    operations,
  }
  return { tools, warnings: document.warnings }
}

function whyNone(all: number, chosen: number, { basePath, maxTools }: OpenApiChoice): string | null {
  if (basePath !== null && !isFit(basePath)) return `the \`basePath\` ${basePath}`
  if (all === 0) return 'no operation'
  if (chosen === 0) return 'no operation left after `include` and `exclude`'
  if (chosen <= maxTools) return null
  return `${chosen} operations, which is more than \`maxTools\` (${maxTools}); \`include\` and \`exclude\` choose among them`
}

interface FoundOperation extends ChosenBy {
  name: string
  item: JsonObject
  value: JsonObject
}

/** Returns all operations with their names; names do not depend on the choice of operations. */
function findOperations(document: OpenApiDocument): FoundOperation[] {
  const found: Omit<FoundOperation, 'name'>[] = []
  for (const [path, entry] of entriesOf(document.root.paths)) {
    if (path.startsWith('x-')) continue
    const item = document.object(entry, `path ${shorten(path)}`)
    document.warnings.push(...document.takeFaults())
    for (const method of item === null ? [] : METHODS) {
      const value = item?.[method]
      if (item === null || !isObject(value)) continue
      const tags = itemsOf(value.tags).filter((tag) => typeof tag === 'string')
      found.push({ method, path, item, value, tags, operationId: stringOrNull(value.operationId) })
    }
  }
  const names = nameTools(found)
  return found.map((operation, index) => ({ ...operation, name: names[index] ?? '' }))
}

function readOperations(
  document: OpenApiDocument,
  chosen: readonly FoundOperation[],
  choice: OpenApiChoice,
): OpenApiOperation[] {
  const servers = readServers(document.root.servers, document, '`servers`')
  const basePath = choice.basePath?.replace(/\/$/, '') ?? pickServer(servers, choice.host)?.path ?? ''
  document.warnings.push(...document.takeFaults())
  const hosts = new Set([choice.host.toLowerCase(), ...servers.map(({ host }) => host)])
  return chosen.flatMap((found) => {
    const where =
      found.operationId === null
        ? `${found.method.toUpperCase()} ${shorten(found.path)}`
        : `operation \`${shorten(found.operationId)}\``
    const operation = readOperation(found.value, { ...found, document, basePath, hosts, host: choice.host, where })
    const faults = document.takeFaults()
    if (faults.length > 0) document.warnings.push(`${faults.join('; ')}: not offered`)
    return operation === null || faults.length > 0 ? [] : operation
  })
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const
