/** The door for browsers and other packages: definitions, validation and printers, without Node builtins. */
export { allPolicies, backendPolicies, frontendPolicies, trafficPolicies } from '../policies/index.ts'
export type { BackendPolicies, FrontendPolicies, TrafficPolicies } from '../policies/index.ts'
export { routeMatch } from '../sources/routes/schema.ts'
export { configFile } from '../sources/schema.ts'
export type { ConfigFile } from '../sources/schema.ts'
export { toCrdSchema } from './print/crd.ts'
export type { AttachmentPoint, Policy, Section } from './define-policy.ts'
export { printFields } from './print/docs.ts'
export { toJsonSchema } from './print/json-schema.ts'
export { fieldOf, list, map, nodeOf, object, Refusal, scalar } from './kit.ts'
export type {
  Entries,
  Field,
  Json,
  JsonObject,
  Node,
  Output,
  PemChecks,
  ReferredBackend,
  ReferredObjects,
  Schema,
} from './kit.ts'
export { inResource, settle } from './resource-form.ts'
export type { Settled } from './resource-form.ts'
export { atLeastOneOf, exactlyOneOf, onlyWith, otherRule } from './rules.ts'
export { isIssuer } from './fields/mcp-oauth.ts'
export { logFilter } from './fields/names.ts'
export { labelSelector } from './fields/references.ts'
export type { LabelSelectorConfig } from './fields/references.ts'
export { boolean, enumeration, integer, string } from './fields/values.ts'
export { backendFields, oneKind } from '../sources/backends/schema.ts'
export { backendBlock, listenerBlock, targetedFrontendBlock } from '../sources/policies/schema.ts'
export { printPath } from './problem.ts'
export type { Path, Problem, ProblemCode } from './problem.ts'
export { validate } from './validate.ts'
export type { Validated } from './validate.ts'
