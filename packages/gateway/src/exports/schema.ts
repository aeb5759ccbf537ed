/** The door for browsers and other packages: definitions, validation and printers, without Node builtins. */
export { allPolicies, backendPolicies, frontendPolicies, trafficPolicies } from '../policies/index.ts'
export type { BackendPolicies, FrontendPolicies, TrafficPolicies } from '../policies/index.ts'
export { routeMatch } from '../sources/routes/schema.ts'
export { configFile } from '../sources/schema.ts'
export type { ConfigFile } from '../sources/schema.ts'
export { toCrdSchema } from '../schema/print/crd.ts'
export type { AttachmentPoint, Policy, Section } from '../schema/define-policy.ts'
export { printFields } from '../schema/print/docs.ts'
export { toJsonSchema } from '../schema/print/json-schema.ts'
export { fieldOf, list, map, nodeOf, object, Refusal, scalar } from '../schema/kit.ts'
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
} from '../schema/kit.ts'
export { inResource, resolveReferences } from '../schema/resource-form.ts'
export type { ResolvedValue } from '../schema/resource-form.ts'
export { atLeastOneOf, exactlyOneOf, onlyWith, otherRule } from '../schema/rules.ts'
export { didYouMean } from '../formats/suggest.ts'
export { ModelNames } from '../formats/model-names.ts'
export { readExpression } from '../schema/fields/expression.ts'
export { isIssuer } from '../schema/fields/auth/mcp-oauth.ts'
export { additionalTrustDomains, caAddress, trustDomain } from '../schema/fields/mesh.ts'
export { logFilter } from '../schema/fields/names.ts'
export { labelSelector } from '../schema/fields/references.ts'
export type { LabelSelectorConfig } from '../schema/fields/references.ts'
export { boolean, enumeration, integer, string } from '../schema/fields/values.ts'
export { modelFields, modelName, modelPattern, modelRules, modelTarget } from '../backends/ai/models/schema.ts'
export { backendFields, oneKind } from '../sources/backends/schema.ts'
export {
  backendBlock,
  filterBlock,
  listenerBlock,
  providerBlock,
  targetedFrontendBlock,
} from '../sources/policies/schema.ts'
export { printPath } from '../schema/problem.ts'
export type { Path, Problem, ProblemCode } from '../schema/problem.ts'
export { validate } from '../schema/validate.ts'
export type { ValidationResult } from '../schema/validate.ts'
