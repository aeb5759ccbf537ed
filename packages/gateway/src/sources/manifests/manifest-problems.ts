import {
  type Condition,
  isFine,
  type Kind,
  keyOf,
  kindOf,
  type Status,
  type TranslationResult,
  type Translator,
} from '@portico/translate'
import type { Path, Problem } from '../../schema/problem.ts'
import type { ManifestDocument } from './manifest-documents.ts'
import type { LocatedProblem } from '../located-problem.ts'

/** Resources that occur twice. */
export function repeated(documents: readonly ManifestDocument[]): LocatedProblem[] {
  const seen = new Set<string>()
  return documents.flatMap(({ resource, locationOf }) => {
    const id = `${resource.apiVersion} ${resource.kind} ${keyOf(resource)}`
    if (seen.size < seen.add(id).size) return []
    const found = `found ${resource.kind} ${keyOf(resource)} a second time`
    return [{ ...problem({ found, expected: 'each resource once' }), location: locationOf([]) }]
  })
}

export function ignored(documents: readonly ManifestDocument[]): LocatedProblem[] {
  return documents
    .filter(({ resource }) => kindOf(resource) === null)
    .map(({ resource: { apiVersion, kind }, locationOf }) => {
      const found = `found ${kind} of ${apiVersion}, which is ignored`
      return { ...problem({ found, expected: 'a kind that configures a gateway' }), location: locationOf(['kind']) }
    })
}

export function fieldProblems(
  documents: readonly ManifestDocument[],
  translator: Translator,
  code: 'wrong' | 'unknown',
): LocatedProblem[] {
  return known(documents).flatMap(({ kind, resource, locationOf }) =>
    translator
      .problemsOf(kind, keyOf(resource))
      .filter((each) => each.code === code)
      .map(({ path, message }) => {
        const found = `found a value that ${message}`
        const phrases = code === 'wrong' ? { found, expected: 'a value that its kind allows' } : { ...UNKNOWN_FIELD }
        return { ...problem(phrases, path), location: locationOf(path) }
      }),
  )
}

const UNKNOWN_FIELD = { found: 'found a field that is not supported and was ignored', expected: 'supported ones' }

/** Warns about routes without a Gateway of this class, because no status reports them. */
export function withoutGateway(
  documents: readonly ManifestDocument[],
  { statuses }: TranslationResult,
): LocatedProblem[] {
  return known(documents)
    .filter(({ kind, resource }) => kind.endsWith('Route') && !statuses.has(`${kind}/${keyOf(resource)}`))
    .map(({ kind, resource, locationOf }) => {
      const found = `found ${kind} ${keyOf(resource)} without a Gateway of class portico`
      return { ...problem({ found, expected: 'one in parentRefs' }), location: locationOf([]) }
    })
}

/** Problems from conditions that are not met. */
export function badConditions(
  documents: readonly ManifestDocument[],
  { statuses }: TranslationResult,
): LocatedProblem[] {
  return known(documents).flatMap(({ kind, resource, locationOf }) => {
    const name = `${kind} ${keyOf(resource)}`
    const status = statuses.get(`${kind}/${keyOf(resource)}`)
    return (status === undefined ? [] : conditionsOf(status))
      .filter((condition) => !isFine(condition))
      .map(({ where, type, reason, message }) => {
        const found = `found ${name}${where} not as it should be: ${type} (${reason}): ${message}`
        return { ...problem({ found, expected: 'a resource without problems' }), location: locationOf([]) }
      })
  })
}

function conditionsOf(status: Status): (Condition & { where: string })[] {
  const of = (where: string, conditions: readonly Condition[]) => conditions.map((each) => ({ ...each, where }))
  return [
    ...('conditions' in status ? of('', status.conditions ?? []) : []),
    ...('listeners' in status
      ? status.listeners.flatMap(({ name, conditions }) => of(`, listener ${name},`, conditions))
      : []),
    ...('parents' in status ? status.parents.flatMap(({ conditions }) => of('', conditions)) : []),
    ...('ancestors' in status ? status.ancestors.flatMap(({ conditions }) => of('', conditions)) : []),
  ]
}

function known(documents: readonly ManifestDocument[]): (ManifestDocument & { kind: Kind })[] {
  return documents.flatMap((document) => {
    const kind = kindOf(document.resource)
    return kind === null ? [] : [{ ...document, kind }]
  })
}

export function problem(phrases: { found: string; expected: string }, path: Path = []): Problem {
  return { code: 'conflict', path, at: 'value', suggestion: null, ...phrases }
}
