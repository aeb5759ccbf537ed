/** Capsules of recorded requests, for porticoctl. */
export type { Capsule } from './capsule.ts'
export { readCapsule } from './read-capsule.ts'
export { runCapsule } from './run-capsule.ts'
