export type {
  Environment,
  EnvironmentOptions,
  FunctionDefinition,
  Overload,
  StructType,
  ValueType,
  VariableType,
} from './declarations.ts'
export { dyn, headers, overload, present, struct, value } from './declarations.ts'
export { CelError } from './error.ts'
export type { Type } from './types.ts'
export { bool, bytes, double, duration, int, list, listOf, map, mapOf, nullType, number, oneOf } from './types.ts'
export { scalar, string, timestamp, uint } from './types.ts'
export type { Result, Value } from './value.ts'
export { HeadersView } from './value.ts'
