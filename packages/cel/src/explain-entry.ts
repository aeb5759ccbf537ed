/** The entry point for explanations of an evaluation; running expressions does not load it. */
export type { Part } from './explain/parts.ts'
export { partsOf } from './explain/parts.ts'
export type { Need, Relation, Remedy } from './explain/remedy.ts'
export { remediesFor } from './explain/needs.ts'
export { typeName } from './run/type-of.ts'
