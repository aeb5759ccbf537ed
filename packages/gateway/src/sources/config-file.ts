/** Reading of config files, for the other programs of this project. */
export type { LoadOptions, LoadResult } from './file.ts'
export { loadConfig } from './file.ts'
export { printProblem } from './print-problems.ts'
