import { matchesGlob } from '../glob.ts'

/** Which operations of a document become tools. */
export interface OpenApiChoice {
  /** Host of the target: of several servers the one there counts. */
  host: string
  /** In place of the path of the document's servers. */
  basePath: string | null
  /** Null takes all. */
  include: readonly OperationMatch[] | null
  exclude: readonly OperationMatch[]
  maxTools: number
}

/** All that is said must hold; texts may hold `*`. */
export interface OperationMatch {
  operationId?: string | undefined
  tag?: string | undefined
  /** As the document writes it, with the names of parameters in braces. */
  path?: string | undefined
  methods?: readonly string[] | undefined
}

export interface ChosenBy {
  operationId: string | null
  tags: readonly string[]
  path: string
  /** In small letters. */
  method: string
}

export function isChosen(operation: ChosenBy, { include, exclude }: OpenApiChoice): boolean {
  const isTaken = include === null || include.some((match) => isMatch(operation, match))
  return isTaken && !exclude.some((match) => isMatch(operation, match))
}

function isMatch(operation: ChosenBy, { operationId, tag, path, methods }: OperationMatch): boolean {
  return (
    (operationId === undefined || matchesGlob(operationId, operation.operationId ?? '')) &&
    (tag === undefined || operation.tags.some((each) => matchesGlob(tag, each))) &&
    (path === undefined || matchesGlob(path, operation.path)) &&
    (methods === undefined || methods.includes(operation.method.toUpperCase()))
  )
}

export const EVERYTHING: OpenApiChoice = { host: '', basePath: null, include: null, exclude: [], maxTools: 5_000 }
