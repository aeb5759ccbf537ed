/** The entry point of the package for capsules of recorded requests, which porticoctl imports. */
export type { Capsule } from './capsule.ts'
export { readCapsule } from './read-capsule.ts'
export { runCapsule } from './run-capsule.ts'
