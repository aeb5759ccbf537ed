import type { Problem } from '../schema/problem.ts'

/** The location of a problem: a position in a file, or an environment variable. */
export type ConfigLocation = { file: string; line: number; column: number } | { variable: string }

export interface LocatedProblem extends Problem {
  location: ConfigLocation
}
