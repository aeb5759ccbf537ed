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
import type { PlacedProblem } from '../located-problem.ts'

/** Resources that occur twice. */
export function repeated(documents: readonly ManifestDocument[]): PlacedProblem[] {
  const seen = new Set<string>()
  return documents.flatMap(({ resource, placeOf }) => {
    const id = `${resource.apiVersion} ${resource.kind} ${keyOf(resource)}`
    if (seen.size < seen.add(id).size) return []
    const found = `found ${resource.kind} ${keyOf(resource)} a second time`
    return [{ ...problem({ found, expected: 'each resource once' }), place: placeOf([]) }]
  })
}

export function ignored(documents: readonly ManifestDocument[]): PlacedProblem[] {
  return documents
    .filter(({ resource }) => kindOf(resource) === null)
    .map(({ resource: { apiVersion, kind }, placeOf }) => {
      const found = `found ${kind} of ${apiVersion}, which is ignored`
      return { ...problem({ found, expected: 'kinds that a gateway is made of' }), place: placeOf(['kind']) }
    })
}

export function fieldProblems(
  documents: readonly ManifestDocument[],
  translator: Translator,
  code: 'wrong' | 'unknown',
): PlacedProblem[] {
  return known(documents).flatMap(({ kind, resource, placeOf }) =>
    translator
      .problemsOf(kind, keyOf(resource))
      .filter((each) => each.code === code)
      .map(({ path, message }) => {
        const found = `found a value that ${message}`
        const phrases = code === 'wrong' ? { found, expected: 'what its kind allows' } : { ...UNKNOWN_FIELD }
        return { ...problem(phrases, path), place: placeOf(path) }
      }),
  )
}

const UNKNOWN_FIELD = { found: 'found a field that is not supported and was ignored', expected: 'supported ones' }

/** Routes that no Gateway of ours has: nobody speaks of them in a status. */
export function withoutGateway(
  documents: readonly ManifestDocument[],
  { statuses }: TranslationResult,
): PlacedProblem[] {
  return known(documents)
    .filter(({ kind, resource }) => kind.endsWith('Route') && !statuses.has(`${kind}/${keyOf(resource)}`))
    .map(({ kind, resource, placeOf }) => {
      const found = `found ${kind} ${keyOf(resource)} without a Gateway of class portico`
      return { ...problem({ found, expected: 'one in parentRefs' }), place: placeOf([]) }
    })
}

/** Conditions that are not as they should be. */
export function badConditions(
  documents: readonly ManifestDocument[],
  { statuses }: TranslationResult,
): PlacedProblem[] {
  return known(documents).flatMap(({ kind, resource, placeOf }) => {
    const name = `${kind} ${keyOf(resource)}`
    const status = statuses.get(`${kind}/${keyOf(resource)}`)
    return (status === undefined ? [] : conditionsOf(status))
      .filter((condition) => !isFine(condition))
      .map(({ where, type, reason, message }) => {
        const found = `found ${name}${where} not as it should be: ${type} (${reason}): ${message}`
        return { ...problem({ found, expected: 'a resource without problems' }), place: placeOf([]) }
      })
  })
}

function conditionsOf(status: Status): (Condition & { where: string })[] {
  const of = (where: string, conditions: readonly Condition[]) => conditions.map((each) => ({ ...each, where }))
  return [
    ...('conditions' in status ? of('', status.conditions) : []),
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
