import { isObject } from '@portico/http/json'
import type { Resource } from '@portico/translate'
import { LineCounter, parseAllDocuments } from 'yaml'
import type { Path } from '../../schema/problem.ts'
import type { ConfigLocation, LocatedProblem } from '../located-problem.ts'
import { aliasProblems, offsetOf, toValue } from '../yaml/yaml.ts'

/** One resource of a file. */
export interface ManifestDocument {
  resource: Resource
  locationOf(this: void, path: readonly (string | number)[]): ConfigLocation
}

/** Reads all resources of a file, including items of lists; a resource without a name is a problem. */
export function parseManifests(
  text: string,
  file: string,
): { documents: ManifestDocument[]; problems: LocatedProblem[] } {
  const lines = new LineCounter()
  const documents: ManifestDocument[] = []
  const problems: LocatedProblem[] = []
  for (const document of parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, stringKeys: true })) {
    const locationAt = (offset: number): ConfigLocation => {
      const { line, col } = lines.linePos(offset)
      return { file, line: Math.max(line, 1), column: Math.max(col, 1) }
    }
    const [error] = document.errors
    if (error !== undefined) {
      problems.push(broken(`found broken YAML (${error.message})`, 'a YAML document', locationAt(error.pos[0])))
      continue
    }
    const aliases = aliasProblems(document, locationAt)
    problems.push(...aliases)
    if (aliases.length > 0) continue
    for (const { value, path } of valuesOf(toValue(document, problems, locationAt))) {
      const locationOf = (below: readonly (string | number)[]): ConfigLocation =>
        locationAt(offsetOf(document, [...path, ...below] as Path, 'value'))
      const resource = toResource(value)
      if (resource === null) {
        problems.push(broken('found no resource', 'apiVersion, kind and metadata.name', locationOf([])))
      } else documents.push({ resource, locationOf })
    }
  }
  return { documents, problems }
}

/** Skips empty documents and expands `List` resources. */
function valuesOf(value: unknown): { value: unknown; path: (string | number)[] }[] {
  if (value === null || value === undefined) return []
  if (isObject(value) && value['kind'] === 'List' && Array.isArray(value['items'])) {
    return value['items'].map((item, index) => ({ value: item, path: ['items', index] }))
  }
  return [{ value, path: [] }]
}

function toResource(value: unknown): Resource | null {
  if (!isObject(value)) return null
  const { apiVersion, kind, metadata } = value
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !isObject(metadata)) return null
  const { name, namespace } = metadata
  if (typeof name !== 'string' || (namespace !== undefined && typeof namespace !== 'string')) return null
  // A key without a value counts as absent.
  const rest = Object.fromEntries(Object.entries(metadata).filter(([key, at]) => key !== 'namespace' && at !== null))
  const scope = WITHOUT_NAMESPACE.has(kind) ? {} : { namespace: namespace ?? 'default' }
  return { ...value, apiVersion, kind, metadata: { ...rest, name, ...scope } }
}

const WITHOUT_NAMESPACE: ReadonlySet<string> = new Set(['GatewayClass', 'Namespace'])

function broken(found: string, expected: string, location: ConfigLocation): LocatedProblem {
  return { code: 'syntax', path: [], at: 'value', found, expected, suggestion: null, location }
}
