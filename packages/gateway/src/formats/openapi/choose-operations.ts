import { matchesGlob } from '../glob.ts'

/** The choice of operations that become tools. */
export interface OpenApiChoice {
  /** Host of the target. A document with several servers uses the server on this host. */
  host: string
  /** Replaces the path of the document's servers; null keeps that path. */
  basePath: string | null
  /** Null includes all operations. */
  include: readonly OperationMatch[] | null
  exclude: readonly OperationMatch[]
  maxTools: number
}

/** An operation matches when all present fields match; texts may contain `*`. */
interface OperationMatch {
  operationId?: string | undefined
  tag?: string | undefined
  /** The path as in the document, with parameter names in braces. */
  path?: string | undefined
  methods?: readonly string[] | undefined
}

export interface ChosenBy {
  operationId: string | null
  tags: readonly string[]
  path: string
  /** Lower case. */
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
