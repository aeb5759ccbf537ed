import { isObject } from '@portico/http/json'
import type { Resource } from '@portico/translate'
import { LineCounter, parseAllDocuments } from 'yaml'
import type { Path } from '../../schema/problem.ts'
import type { Place, PlacedProblem } from '../located-problem.ts'
import { aliasProblems, offsetOf, toValue } from '../yaml/yaml.ts'

/** One resource of a file. */
export interface ManifestDocument {
  resource: Resource
  placeOf(this: void, path: readonly (string | number)[]): Place
}

/** All resources of a file, those of lists too; what has no name is a problem. */
export function parseManifests(
  text: string,
  file: string,
): { documents: ManifestDocument[]; problems: PlacedProblem[] } {
  const lines = new LineCounter()
  const documents: ManifestDocument[] = []
  const problems: PlacedProblem[] = []
  for (const document of parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, stringKeys: true })) {
    const placeAt = (offset: number): Place => {
      const { line, col } = lines.linePos(offset)
      return { file, line: Math.max(line, 1), column: Math.max(col, 1) }
    }
    const [error] = document.errors
    if (error !== undefined) {
      problems.push(broken(`found broken YAML (${error.message})`, 'a YAML document', placeAt(error.pos[0])))
      continue
    }
    const aliases = aliasProblems(document, placeAt)
    problems.push(...aliases)
    if (aliases.length > 0) continue
    for (const { value, path } of valuesOf(toValue(document, problems, placeAt))) {
      const placeOf = (below: readonly (string | number)[]): Place =>
        placeAt(offsetOf(document, [...path, ...below] as Path, 'value'))
      const resource = toResource(value)
      if (resource === null) {
        problems.push(broken('found no resource', 'apiVersion, kind and metadata.name', placeOf([])))
      } else documents.push({ resource, placeOf })
    }
  }
  return { documents, problems }
}

/** Empty documents are none; a `List` is what it holds. */
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
  // A key without a value says nothing.
  const rest = Object.fromEntries(Object.entries(metadata).filter(([key, at]) => key !== 'namespace' && at !== null))
  const place = WITHOUT_NAMESPACE.has(kind) ? {} : { namespace: namespace ?? 'default' }
  return { ...value, apiVersion, kind, metadata: { ...rest, name, ...place } }
}

const WITHOUT_NAMESPACE: ReadonlySet<string> = new Set(['GatewayClass', 'Namespace'])

function broken(found: string, expected: string, place: Place): PlacedProblem {
  return { code: 'syntax', path: [], at: 'value', found, expected, suggestion: null, place }
}
