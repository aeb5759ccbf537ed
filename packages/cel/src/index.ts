export type { CheckResult, Reference } from './check.ts'
export { check, reads, readsWithoutGuard } from './check.ts'
export type {
  Argument,
  Environment,
  EnvironmentOptions,
  FunctionDefinition,
  StructType,
  VariableType,
} from './declarations.ts'
export { dyn, headers, present, struct } from './declarations.ts'
export type { ErrorKind } from './error.ts'
export { CelError, isCelError, isMissing } from './error.ts'
export { Flattened } from './library/maps.ts'
export { Cidr, Ip } from './library/ip.ts'
export type { RandomScope } from './library/random.ts'
export { Secret } from './library/secret.ts'
export { createEnvironment } from './node-environment.ts'
export type { Position, Problem } from './position.ts'
export type { Compiled, Program } from './program.ts'
export { compile } from './program.ts'
export type { Json } from './render.ts'
export { toJson, toText } from './render.ts'
export type { MapKey, MapValue, Result, Value } from './value.ts'
export { Double, Duration, HeadersView, MapView, Opaque, Optional, Timestamp, TypeValue, Uint } from './value.ts'
export { parseSafely } from './safe-json.ts'
