import type { Problem } from '../schema/problem.ts'

/** Where a problem is, for people: a spot in a file, or a variable of the environment. */
export type Place = { file: string; line: number; column: number } | { variable: string }

export interface PlacedProblem extends Problem {
  place: Place
}
