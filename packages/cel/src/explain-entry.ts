/** For those who look into an evaluation; what runs expressions does not load it. */
export type { Part } from './explain/parts.ts'
export { partsOf } from './explain/parts.ts'
export type { Need, Relation, Way } from './explain/way.ts'
export { waysTo } from './explain/needs.ts'
export { typeName } from './run/type-of.ts'
