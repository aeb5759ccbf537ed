import type { Field } from '../../core/yaml-field.ts'
import { ANY_MATCH, type FieldCondition, type HttpMatch, type PathCondition } from '../../http/model.ts'
import { list, lost, mapping, membersOf, scalar, type Scope } from '../values/convert.ts'

/** A match of a route, in the form of the Portico config and in the form that generated tests use. */
export interface ReadMatch {
  readonly printed: Readonly<Record<string, unknown>>
  readonly match: HttpMatch
}

interface PrintedMatch {
  readonly path?: { exact?: string; pathPrefix?: string; regex?: string }
  readonly method?: string
  readonly headers?: readonly FieldCondition[]
  readonly query?: readonly FieldCondition[]
}

/** Reads a match; returns undefined when one of its conditions cannot be expressed. */
export function readMatch(field: Field, scope: Scope): ReadMatch | undefined {
  if (!field.isMapping) return lost(field, 'expected a mapping')
  const value = mapping({ exact: scalar, regex: scalar })
  const condition = mapping({ name: scalar, value })
  const printed = membersOf(
    field,
    {
      path: (each, inner) => mapping({ exact: scalar, pathPrefix: scalar, regex: pattern })(each, inner),
      method: (each, inner) => (each.isMapping ? scalar(each.get('method') ?? each, inner) : scalar(each, inner)),
      headers: list(condition),
      query: list(condition),
    },
    scope,
  )
  if (field.amendLosses('all requests of the listener get 403', true)) return undefined
  return { printed, match: matchOf(scope.env.sampleOf(printed) as PrintedMatch) }
}

/** Reads the pattern of a path. Old agentgateway files have a list of the pattern and its length. */
function pattern(field: Field, scope: Scope): unknown {
  const [first] = field.items
  if (first === undefined) return scalar(field, scope)
  field.carried()
  return first.text ?? undefined
}

function matchOf({ path = {}, method, headers = [], query = [] }: PrintedMatch): HttpMatch {
  return { ...ANY_MATCH, path: pathOf(path), method: method ?? null, headers, query }
}

function pathOf({ exact, pathPrefix, regex }: NonNullable<PrintedMatch['path']>): PathCondition | null {
  if (exact !== undefined) return { kind: 'exact', path: exact }
  if (regex !== undefined) return { kind: 'pattern', regex }
  const prefix = pathPrefix?.replace(/\/+$/, '') ?? ''
  return prefix === '' ? null : { kind: 'segments', path: prefix }
}
