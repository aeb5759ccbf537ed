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

/** Imports the configs of one gateway. */
export type Importer = (sources: readonly SourceText[], find: FindIncluded) => ImportResult
