/**
 * What went wrong. `no_such_key` and `undeclared` mean that something is missing, which `default()` replaces;
 * `budget` that the expression ran longer than it may; `internal` that the host or the runtime threw.
 */
export type ErrorKind =
  | 'no_such_key'
  | 'undeclared'
  | 'no_such_overload'
  | 'bad_index'
  | 'bad_value'
  | 'overflow'
  | 'divide_by_zero'
  | 'budget'
  | 'failed'
  | 'internal'

/** A value like any other: an expression that fails gives one, and nothing is thrown. */
export class CelError {
  readonly kind: ErrorKind
  readonly message: string
  /** Offset in the source of the expression. */
  readonly position: number | undefined

  constructor(kind: ErrorKind, message: string, position?: number) {
    this.kind = kind
    this.message = message
    this.position = position
  }

  /** The innermost place stays. */
  at(position: number): CelError {
    return this.position === undefined ? new CelError(this.kind, this.message, position) : this
  }
}

export function isCelError(result: unknown): result is CelError {
  return result instanceof CelError
}

/** True for what `default()` replaces: a key that is not there, a name nobody declared. */
export function isMissing(result: unknown): boolean {
  return result instanceof CelError && (result.kind === 'no_such_key' || result.kind === 'undeclared')
}

export function noSuchOverload(what: string): CelError {
  return new CelError('no_such_overload', `no such overload: ${what}`)
}
