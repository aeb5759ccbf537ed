import type { ImportReport } from './report.ts'
import type { SourceProblem, SourceText } from './source.ts'
import type { StatedBehavior } from './test-file.ts'

/** A config of another gateway in our words. */
export interface ImportedConfig {
  /** The config, as the tree of a config file; `Variable` and comments are allowed. */
  readonly config: object
  readonly report: ImportReport
  readonly behavior: StatedBehavior
}

export type ImportResult =
  | { readonly ok: true; readonly value: ImportedConfig }
  | { readonly ok: false; readonly problem: SourceProblem }

/** Finds the files that a config includes; a text says why there are none. */
export type FindIncluded = (pattern: string) => readonly SourceText[] | string

/**
 * The phase of a request in which an expression is evaluated. The phase decides which variables an expression can use.
 */
export type ExpressionPhase =
  | 'process'
  | 'start'
  | 'request'
  | 'backend'
  | 'llmRequest'
  | 'mcp'
  | 'network'
  | 'responseHead'
  | 'response'
  | 'log'

/**
 * A problem that the gateway finds in a part of a config. The message contains no values, because values may be
 * secrets.
 */
export interface PartProblem {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** Checks that the caller provides, so that importers do not depend on the code of the gateway. */
export interface GatewayChecks {
  policy(this: void, section: 'traffic' | 'backend' | 'frontend', name: string, value: unknown): readonly PartProblem[]
  /** Checks the structure of a config, but neither its files nor its references. */
  config(this: void, value: unknown): readonly PartProblem[]
  /** Returns why the gateway rejects an expression; null when the gateway accepts the expression. */
  expression(this: void, source: unknown, phase: ExpressionPhase): string | null
}

/** Imports the configs of one gateway. */
export type Importer = (sources: readonly SourceText[], find: FindIncluded, checks: GatewayChecks) => ImportResult
