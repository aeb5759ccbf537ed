/** Configs of other gateways as text, and positions in them. */

export interface SourceText {
  /** The name in reports: the path as the user gave it. */
  readonly name: string
  readonly text: string
}

/** Lines and columns count from 1. */
export interface SourcePosition {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** Why a source cannot be imported at all. */
export interface SourceProblem {
  readonly at: SourcePosition
  readonly message: string
}

/** Stops a parser; importers return its problem. */
export class SourceError extends Error {
  readonly problem: SourceProblem

  constructor(at: SourcePosition, message: string) {
    super(message)
    this.problem = { at, message }
  }
}

/** Larger sources are refused: a config of this size is a mistake or an attack. */
const MOST_CHARACTERS = 4 << 20
export const MOST_DEPTH = 64
export const MOST_NODES = 200_000

export function positionText({ file, line, column }: SourcePosition): string {
  return `${file}:${line}:${column}`
}

/** Runs an importer; a source that cannot be read becomes a problem instead of an exception. */
export function problemsOf<Value>(
  run: () => Value,
): { ok: true; value: Value } | { ok: false; problem: SourceProblem } {
  try {
    return { ok: true, value: run() }
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    return { ok: false, problem: error.problem }
  }
}

export function checkSize({ name, text }: SourceText): void {
  if (text.length <= MOST_CHARACTERS) return
  throw new SourceError(
    { file: name, line: 1, column: 1 },
    `found ${text.length} characters, expected at most ${MOST_CHARACTERS}`,
  )
}
