/**
 * The reason of an error. `no_such_key` and `undeclared` mean a missing value, which `default()` replaces; `budget` means
 * too many steps; `internal` means that the host or the runtime threw.
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

/** The error of an evaluation. It is returned as a value, never thrown. */
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

  /** Sets the position unless an inner part has set one. */
  at(position: number): CelError {
    return this.position === undefined ? new CelError(this.kind, this.message, position) : this
  }
}

export function isCelError(result: unknown): result is CelError {
  return result instanceof CelError
}

/** Whether `default()` replaces the result: a missing key or an undeclared name. */
export function isMissing(result: unknown): boolean {
  return result instanceof CelError && (result.kind === 'no_such_key' || result.kind === 'undeclared')
}

export function noSuchOverload(what: string): CelError {
  return new CelError('no_such_overload', `no such overload: ${what}`)
}
